bit lock; byte n;
active [2] proctype P() { bit old = 1; do :: atomic { old = lock; lock = 1 } if :: old == 0 -> break :: else fi od; n++; assert(n == 1); n--; lock = 0 }
