chan c = [1] of { byte };
byte r;
active proctype P() { byte x; if :: c ? x -> r = 1 :: else -> r = 2 fi; assert(r == 2) }
active proctype Q() { c ! 1 }
