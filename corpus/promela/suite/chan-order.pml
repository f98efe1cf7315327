chan c = [3] of { byte };
active proctype P() { c ! 1; c ! 2; c ! 3 }
active proctype Q() { byte x, y, z; c ? x; c ? y; c ? z; assert(x == 1 && y == 2 && z == 3) }
