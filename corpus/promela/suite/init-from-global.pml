int nop = 6;
int glock = nop;
int next[2] = nop;
active proctype P() { assert(glock == 6 && next[1] == 6) }
