byte x;
proctype P() { assert(x == 0) }
init { run P(); x = 1; run P() }
