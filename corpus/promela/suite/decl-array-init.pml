byte a[3] = 7;
active proctype P() { assert(a[0] == 7 && a[2] == 7) }
