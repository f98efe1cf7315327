chan c = [0] of { byte };
byte n;
active proctype P() { c ! 1; c ! 2 }
active [2] proctype Q() { byte x; c ? x; n = n + x; assert(n != 2) }
