chan c = [3] of { byte };
active proctype P() { c !! 3; c !! 1; c !! 2; byte x, y, z; c ? x; c ? y; c ? z; assert(x == 1 && y == 2 && z == 3) }
