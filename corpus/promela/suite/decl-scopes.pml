byte x = 1;
active proctype P() { byte y = 5; { byte z = 7; assert(z == 7); y = z }; assert(x == 1 && y == 7) }
