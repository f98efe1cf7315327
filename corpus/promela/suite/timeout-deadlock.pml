byte x;
active proctype P() { x == 1 }
active proctype Q() { timeout; x = 2 }
