byte x;
inline one(v) { v++ }
inline two(v) { one(v); one(v) }
active proctype P() { two(x)
 two(x)
 assert(x == 4) }
