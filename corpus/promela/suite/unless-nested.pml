byte x, y, z;
active proctype P() { { { z = 1; z = 2 } unless { x == 1 -> z = 3 } } unless { y == 1 -> z = 4 }; assert(z != 4 || y == 1) }
active proctype Q() { atomic { x = 1; y = 1 } }
