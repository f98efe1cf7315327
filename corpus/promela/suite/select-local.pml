active proctype P() { byte x; select (x : 1 .. 3); assert(x >= 1 && x <= 3) }
