byte g = 1;
active proctype P() { byte a = g; g = 2; byte b = g; assert(a == 1 && b == 2) }
