byte x, y;
active proctype P() { d_step { x == 1 -> x = 2; y = 2 } }
active proctype Q() { x = 1; x == 2; assert(y == 2) }
