chan a = [1] of { byte }; chan b = [1] of { byte };
active proctype P() { chan c; byte x; c = a; c ! 1; c = b; c ! 2; a ? x; assert(x == 1); b ? x; assert(x == 2) }
