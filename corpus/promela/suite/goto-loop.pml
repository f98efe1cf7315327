byte x;
active proctype P() { again: x++; if :: x < 4 -> goto again :: else fi; assert(x == 4) }
