chan a = [0] of { byte }; chan b = [0] of { byte };
active proctype P() { a ! 1 }
active proctype Q() { byte x; a ? x; b ! x + 1 }
active proctype R() { byte x; b ? x; assert(x == 2) }
