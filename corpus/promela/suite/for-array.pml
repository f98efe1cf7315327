byte a[3] = 2; byte i, s;
active proctype P() { for (i in a) { s = s + a[i] } assert(s == 6) }
