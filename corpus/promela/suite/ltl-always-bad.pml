byte x;
ltl p { [] (x < 2) }
active proctype P() { x = 1; x = 2; x = 0 }
