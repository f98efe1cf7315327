chan c = [4] of { byte };
active proctype P() { c ! 5; c ! 1; c !! 3; byte x, y, z; c ? x; c ? y; c ? z; assert(x == 3 && y == 5 && z == 1) }
