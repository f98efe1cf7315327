mtype = { a, b, c };
mtype = { d };
active proctype P() { assert(c == 1 && b == 2 && a == 3 && d == 4) }
