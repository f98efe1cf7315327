typedef T { byte a; byte b[2] };
active proctype P() { T t; t.a = 1; t.b[1] = t.a + 1; assert(t.b[1] == 2 && t.b[0] == 0) }
