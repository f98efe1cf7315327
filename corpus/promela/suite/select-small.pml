byte x;
active proctype P() { select (x : 1 .. 3); assert(x != 2) }
