byte x, y;
active proctype P() { { y = 1 } unless { x == 1 -> assert(y == 0) }; y = 2 }
active proctype Q() { x = 1 }
