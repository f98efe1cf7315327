byte x;
inline add(v, n) { v = v + n; assert(v < 10) }
active proctype P() { add(x, 2); add(x, 3); assert(x == 5) }
