chan c = [0] of { byte };
active proctype P() { c ! 3 }
active proctype Q() { byte x; c ? x; assert(x == 3) }
