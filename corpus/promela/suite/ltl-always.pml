byte x;
ltl p { [] (x < 3) }
active proctype P() { x = 1; x = 2 }
