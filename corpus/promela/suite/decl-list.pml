byte a[3] = { 1, 2, 3 };
active proctype P() { byte b[2] = { 4, 5 }; assert(a[0] + a[1] + a[2] + b[0] + b[1] == 15) }
