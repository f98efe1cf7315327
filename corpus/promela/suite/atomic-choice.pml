byte x, y;
active proctype P() { atomic { if :: x = 1 :: x = 2 fi; y = x } }
active proctype Q() { assert(x == y) }
