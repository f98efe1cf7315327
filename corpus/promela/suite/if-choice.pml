byte x;
active proctype P() { if :: x = 1 :: x = 2 :: x = 3 fi; assert(x != 3) }
