chan a = [0] of { byte }; chan pass = [1] of { chan };
active proctype P() { chan c; pass ? c; c ! 4 }
active proctype Q() { byte x; pass ! a; a ? x; assert(x == 4) }
