chan c = [0] of { byte };
byte t;
active proctype P() { c ! 1 }
active proctype Q() { byte x; c ? x; c ? x }
active proctype R() { timeout; t = 1; c ! 2; assert(t == 1) }
