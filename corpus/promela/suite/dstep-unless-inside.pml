byte x, y;
active proctype P() { { d_step { x == 1; y = 1 }; y == 2 } unless { y == 1 -> assert(x == 1) } }
active proctype Q() { x = 1 }
