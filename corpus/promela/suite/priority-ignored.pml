byte x;
active proctype P() priority 2 { x = 1 }
active proctype Q() { assert(x <= 1) }
