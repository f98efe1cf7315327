byte x, y;
ltl p { always (x == 0 || y == 1) }
active proctype P() { y = 1; x = 1 }
