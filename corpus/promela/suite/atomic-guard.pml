byte x, y;
active [2] proctype P() { atomic { x == 0 -> x = 1; y++ } assert(y == 1); atomic { y--; x = 0 } }
