byte x;
proctype P() { assert(x == 1) }
init { if :: x = 1 :: x = 2 fi; run P() }
