chan c = [0] of { byte };
active [2] proctype P() { c ! _pid }
active proctype Q() { byte x, y; c ? x; c ? y; assert(x + y == 1); assert(x == 0) }
