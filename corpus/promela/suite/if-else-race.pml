byte x;
active proctype P() { if :: x == 1 -> x = 5 :: else -> x = 7 fi; assert(x == 7) }
active proctype Q() { x = 1 }
