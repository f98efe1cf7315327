int x;
active proctype P() { x = (5 & 6) | (1 << 3); assert(x == 12); x = ~x; assert(x == -13); x = x ^ 1; assert(x == -14) }
