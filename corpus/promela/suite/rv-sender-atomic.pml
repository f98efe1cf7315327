chan c = [0] of { byte };
byte a, b;
active proctype P() { atomic { a = 1; c ! 1; b = 1 } }
active proctype Q() { byte x; c ? x; assert(a == 1); assert(b == 0) }
