byte x, y;
active proctype P() { d_step { x = 1; if :: x == 1 -> y = 1 :: x < 5 -> y = 2 fi } assert(y == 1) }
