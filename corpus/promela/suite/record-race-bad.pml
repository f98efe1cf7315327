typedef T { byte a; byte b };
T t;
active proctype P() { t.b = 1; t.a = 1 }
active proctype Q() { assert(t.a >= t.b) }
