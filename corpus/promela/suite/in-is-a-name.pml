byte in;
active proctype P() { in = 1; assert(in == 1) }
