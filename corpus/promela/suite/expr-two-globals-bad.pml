byte a, b;
active proctype P() { b = 1; a = 1 }
active proctype Q() { assert(!b || a) }
