chan c = [0] of { byte };
byte a, b;
active proctype P() { c ! 1; b = 1 }
active proctype Q() { byte x; atomic { c ? x; a = 1; a = 2 } }
active proctype R() { assert(b == 0 || a == 2) }
