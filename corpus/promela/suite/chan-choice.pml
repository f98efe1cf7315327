chan a = [1] of { byte }; chan b = [1] of { byte };
byte r;
active proctype P() { if :: a ! 1 :: b ! 1 fi }
active proctype Q() { byte x; if :: a ? x -> r = 1 :: b ? x -> r = 2 fi; assert(r != 2) }
