byte g = 1;
proctype Q() { byte v = g; assert(v == 1 || v == 2) }
active proctype P() { run Q(); g = 2; run Q(); g = 3 }
