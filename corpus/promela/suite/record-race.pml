typedef T { byte a; byte b };
T t;
active proctype P() { t.a = 1; t.b = 1 }
active proctype Q() { assert(t.a >= t.b) }
