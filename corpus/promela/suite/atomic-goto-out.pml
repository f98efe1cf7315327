byte x, y;
active proctype P() { atomic { x = 1; if :: y == 0 -> goto out :: else -> y = 5 fi; x = 2 } x = 3; out: assert(x == 1 || x == 3) }
active proctype Q() { y = 1 }
