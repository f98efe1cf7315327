byte x;
active proctype P() { byte r; { d_step { x == 2; x = 0 } } unless { x != 2 -> r = 2 } }
