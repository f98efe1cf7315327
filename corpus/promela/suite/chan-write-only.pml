chan c = [2] of { byte, byte };
active proctype P() { byte x; c ! 1, 2; c ? _, x; assert(x == 2) }
