byte x;
proctype Q() { assert(false) }
active proctype P() { if :: x == 1 -> run Q() :: else -> skip fi }
