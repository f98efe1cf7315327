byte x, y;
active proctype P() { d_step { x = 1; y = 1 } }
active proctype Q() { assert(x == y) }
