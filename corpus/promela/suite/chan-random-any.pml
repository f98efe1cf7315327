chan c = [3] of { byte };
active proctype P() { c ! 1; c ! 2 }
active proctype Q() { byte x, y; c ?? 2; c ?? x; assert(x == 1) }
