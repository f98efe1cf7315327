byte x, y, z;
active proctype P() { atomic { x = 1; y == 1; z = 1 } }
active proctype Q() { x == 1; assert(z == 0); y = 1 }
