chan c = [0] of { byte };
byte r;
active proctype P() { if :: c ! 1 -> r = 1 :: else -> r = 2 fi; assert(r != 1) }
active proctype Q() { byte x; if :: c ? x :: skip fi }
