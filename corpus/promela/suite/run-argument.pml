byte g;
proctype Q(byte v) { assert(v == 7); g = v }
active proctype P() { g = 7; run Q(g); g = 8 }
