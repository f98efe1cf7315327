byte a[3];
active [3] proctype P() { a[_pid] = 1; assert(a[_pid] == 1) }
