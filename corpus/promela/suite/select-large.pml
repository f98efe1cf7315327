byte x, y;
active proctype P() { select (x : 0 .. 40); y = x; assert(y <= 40) }
