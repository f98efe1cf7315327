byte np, nq;
active proctype P() { np = nq + 1; (nq == 0 || np <= nq); np = 0 }
active proctype Q() { nq = np + 1; (np == 0 || nq < np); assert(np == 0 || nq < np); nq = 0 }
