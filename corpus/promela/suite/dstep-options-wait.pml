byte x, y;
active proctype P() { if :: d_step { x == 1; y = 1 } :: d_step { x == 2; y = 2 } fi; assert(y == 1) }
active proctype Q() { x = 1 }
