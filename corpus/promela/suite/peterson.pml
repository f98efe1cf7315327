bool flag[2]; byte turn, n;
active [2] proctype P() { byte i = _pid; byte j = 1 - _pid; flag[i] = true; turn = j; (flag[j] == false || turn == i); n++; assert(n == 1); n--; flag[i] = false }
