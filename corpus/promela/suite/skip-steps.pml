byte x;
active proctype P() { skip; skip; x = 1 }
active proctype Q() { skip; assert(x < 2) }
