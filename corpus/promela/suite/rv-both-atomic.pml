chan c = [0] of { byte };
byte a, b;
active proctype P() { atomic { c ! 1; b = a } }
active proctype Q() { byte x; atomic { c ? x; a = 1; a = 2 } }
active proctype R() { assert(a != 1) }
