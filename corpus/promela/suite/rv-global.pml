chan c = [0] of { byte };
byte g, s;
active proctype P() { c ! 3; s = 1 }
active proctype Q() { c ? g; assert(g == 3) }
active proctype R() { assert(!s || g == 3) }
