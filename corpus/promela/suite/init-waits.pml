byte x;
proctype P() { x = 1 }
init { run P(); x == 1; assert(x == 1) }
