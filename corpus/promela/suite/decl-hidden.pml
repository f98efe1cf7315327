hidden byte h; show byte s; local byte l;
active proctype P() { h = 1; s = h; l = s; assert(l == 1) }
