byte x, y;
active proctype P() { atomic { if :: x > 0 -> y = 1 :: else -> y = 2 fi; assert(x == 0 || y == 1) } }
active proctype Q() { x = 1 }
