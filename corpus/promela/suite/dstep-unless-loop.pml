byte x, y;
active proctype P() { do :: { d_step { x == 1; x = 0; y++ } } unless { y == 2 -> break } od; assert(y == 2) }
active proctype Q() { x = 1; x == 0; x = 1 }
