chan c = [1] of { byte };
byte n;
active proctype P() { atomic { c ! 1; n = 1; c ! 2; n = 2 } }
active proctype Q() { byte x; c ? x; assert(x == 1); assert(n == 1); c ? x }
