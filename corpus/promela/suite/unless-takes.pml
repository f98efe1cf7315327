byte x, y;
active proctype P() { { y = 1; y = 2; y = 3 } unless { x == 1 -> y = 9 } }
active proctype Q() { x = 1; assert(y != 3) }
