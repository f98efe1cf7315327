byte x, y;
active proctype P() { goto mid; atomic { x = 1; mid: x = 2; y = 2 } }
active proctype Q() { assert(x == y) }
