chan c = [0] of { byte };
byte a;
active proctype P() { a = 1; c ! 1; a = 2 }
active proctype Q() { byte x; c ? x; assert(a >= 1) }
