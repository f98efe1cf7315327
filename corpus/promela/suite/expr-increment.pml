byte x;
active [2] proctype P() { x++ }
active proctype Q() { (_nr_pr == 1) -> assert(x == 2) }
