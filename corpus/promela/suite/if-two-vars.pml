byte x, y;
active proctype P() { if :: x == 1 -> assert(y == 0) :: y == 1 -> skip fi }
active proctype Q() { x = 1; x = 0; y = 1 }
