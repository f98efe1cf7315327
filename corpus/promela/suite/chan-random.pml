chan c = [3] of { byte };
active proctype P() { c ! 1; c ! 2; c ! 3 }
active proctype Q() { byte x; c ?? 2; c ? x; assert(x == 1) }
