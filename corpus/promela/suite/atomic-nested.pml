byte x, y;
active proctype P() { atomic { x = 1; d_step { x = 2; y = 1 } ; x = 3 } }
active proctype Q() { assert(x == 0 || x == 3) }
