bool a, b;
active proctype P() { a = 1
 !b
 b = 1 }
active proctype Q() { a == 1; assert(!b || a) }
