bool flag[2]; byte turn, n;
active [2] proctype P() { byte j = 1 - _pid; turn = j; flag[_pid] = true; (flag[j] == false || turn == _pid); n++; assert(n == 1); n--; flag[_pid] = false }
