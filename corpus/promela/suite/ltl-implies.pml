byte x, y;
ltl p { [] ((x == 1) -> (y == 1)) }
active proctype P() { y = 1; x = 1; y = 0 }
