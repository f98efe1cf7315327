typedef T { byte a; bit b };
T t;
active proctype P() { t.a = 3; t.b = 1; assert(t.a == 3 && t.b) }
