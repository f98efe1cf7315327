chan c = [3] of { byte, byte };
active proctype P() { c !! 2, 1; c !! 1, 9; c !! 2, 0; byte x, y; c ? x, y; assert(x == 1 && y == 9); c ? x, y; assert(x == 2 && y == 0); c ? x, y; assert(y == 1) }
