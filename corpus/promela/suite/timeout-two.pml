byte x;
active proctype P() { timeout; x++ }
active proctype Q() { timeout; x++; assert(x <= 2) }
