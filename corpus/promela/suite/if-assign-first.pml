byte x, y;
active proctype P() { if :: x = 1 -> y = 1 :: y == 1 -> x = 2 fi; assert(x != 2) }
active proctype Q() { y = 1 }
