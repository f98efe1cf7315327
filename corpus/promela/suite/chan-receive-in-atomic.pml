chan c = [1] of { byte };
byte x, y;
active proctype P() { byte v; atomic { c ? v; x = v; y = v } }
active proctype Q() { c ! 2; assert(x == y) }
