chan q[2] = [2] of { byte };
byte leaders;
active [2] proctype N() { byte x; byte next = 1 - _pid; q[next] ! _pid; q[_pid] ? x; if :: x > _pid -> skip :: else -> leaders++ fi; assert(leaders <= 1) }
