byte x;
active proctype Server() { end: do :: x == 1 -> x = 0 od }
active proctype P() { x = 1; x == 0 }
