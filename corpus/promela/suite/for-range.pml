byte i, s;
active proctype P() { for (i : 1 .. 4) { s = s + i } assert(s == 10 && i == 5) }
