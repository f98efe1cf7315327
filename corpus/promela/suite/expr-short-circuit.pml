byte a[2], i = 2;
active proctype P() { if :: (i < 2 && a[i] == 0) -> assert(false) :: else -> skip fi }
