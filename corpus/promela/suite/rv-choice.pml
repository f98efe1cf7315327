chan a = [0] of { byte }; chan b = [0] of { byte };
byte r;
active proctype P() { if :: a ! 1 :: b ! 2 fi }
active proctype Q() { byte x; if :: a ? x -> assert(x == 1) :: b ? x -> assert(x == 2); r = 1 fi; assert(r == 0) }
