chan t[3] = [1] of { bit };
byte n;
active [3] proctype P() { bit x; if :: _pid == 0 -> t[0] ! 1 :: else fi; t[_pid] ? x; n++; assert(n == 1); n--; t[(_pid + 1) % 3] ! x }
