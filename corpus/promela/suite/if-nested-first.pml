byte x;
active proctype P() { if :: if :: x == 1 -> x = 3 :: x == 0 -> x = 4 fi :: x == 9 -> x = 5 fi; assert(x == 4) }
