byte x; chan d = [0] of { byte };
active proctype P() { byte r; { d_step { x == 2; x = 0 }; if :: d ? x -> d ! r :: x == 7 fi } unless { x != 2 -> r = 2 }; r = 1 }
