typedef T { byte a; byte b };
chan c = [2] of { T };
active proctype P() { T t; t.a = 1; t.b = 2; c ! t }
active proctype Q() { T u; c ? u; assert(u.a == 1 && u.b == 2) }
