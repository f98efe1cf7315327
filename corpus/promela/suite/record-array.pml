typedef T { byte a = 2; byte b };
T t[3];
active proctype P() { byte k = 1; t[k].b = 4; assert(t[1].a == 2 && t[1].b == 4 && t[2].b == 0) }
