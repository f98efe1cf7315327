chan c = [1] of { byte };
byte g;
active proctype P() { c ! 5 }
active proctype Q() { c ? g; assert(g == 5) }
active proctype R() { assert(g == 0 || len(c) == 0) }
