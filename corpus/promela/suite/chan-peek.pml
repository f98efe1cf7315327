chan c = [1] of { byte };
active proctype P() { byte x; c ! 4; c ? <x>; assert(x == 4 && len(c) == 1); c ? x; assert(len(c) == 0) }
