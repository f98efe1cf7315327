chan c = [1] of { bit, byte };
active proctype P() { c ! 2, 300 }
active proctype Q() { int x, y; c ? x, y; assert(x == 0 && y == 44) }
