chan c[2] = [1] of { byte };
active proctype P() { byte i = 1; c[0] ! 3; c[i] ! 4 }
active proctype Q() { byte x, i; c[i] ? x; assert(x == 3); i++; c[i] ? x; assert(x == 4) }
