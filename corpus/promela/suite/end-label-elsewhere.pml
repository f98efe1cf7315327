byte x;
active proctype Server() { end: x == 1; x == 2 }
active proctype P() { x = 1 }
