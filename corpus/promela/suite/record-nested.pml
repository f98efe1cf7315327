typedef In { byte v[2] };
typedef Out { In i[2]; byte n };
Out o;
active proctype P() { o.i[1].v[0] = 5; o.n = 1; assert(o.i[o.n].v[0] == 5 && o.i[0].v[0] == 0) }
