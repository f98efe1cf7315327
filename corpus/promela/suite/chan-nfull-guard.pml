chan c = [1] of { byte };
active proctype P() { nfull(c); c ! 1; nfull(c); c ! 2 }
active proctype Q() { byte x; nempty(c) -> c ? x; assert(x == 1) ; c ? x }
