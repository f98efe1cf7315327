byte x, y;
active proctype P() { atomic { if :: x == 0 -> y = 1 :: x == 1 -> y = 2 fi; x = 5 } }
active proctype Q() { x = 1; assert(x == 5 || x == 1) }
