byte n;
active [3] proctype P() { n++; assert(n <= 3) }
