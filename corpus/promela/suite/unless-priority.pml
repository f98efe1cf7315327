byte x = 1, y;
active proctype P() { { y = 1 } unless { x == 1 -> y = 9 }; assert(y == 9) }
