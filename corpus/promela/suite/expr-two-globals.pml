byte a, b;
active proctype P() { a = 1; b = 1 }
active proctype Q() { assert(!b || a) }
