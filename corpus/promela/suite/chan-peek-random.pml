chan c = [2] of { byte, byte };
active proctype P() { byte x; c ! 1, 4; c ! 2, 5; c ?? <2, x>; assert(x == 5 && len(c) == 2) }
