byte x;
proctype Q() { assert(x == 1) }
active proctype P() { if :: x = 1; run Q() :: skip fi }
