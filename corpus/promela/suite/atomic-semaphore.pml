byte s = 1, n;
active [3] proctype P() { atomic { s > 0 -> s-- } n++; assert(n == 1); n--; s++ }
