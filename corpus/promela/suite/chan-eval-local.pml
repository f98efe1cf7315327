chan c = [2] of { byte };
active proctype P() { c ! 2; c ! 1 }
active proctype Q() { byte w = 2; byte x; c ? eval(w); c ? x; assert(x == 1) }
