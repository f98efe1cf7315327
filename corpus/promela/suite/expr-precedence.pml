int x;
active proctype P() { x = 2 + 3 * 4 - 1; assert(x == 13); assert(1 + 1 == 2 && 3 > 2 || 0); assert(!0 == 1) }
