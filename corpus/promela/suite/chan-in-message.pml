chan reply = [1] of { byte };
chan ask = [1] of { chan, byte };
active proctype Server() { chan r; byte x; ask ? r, x; r ! x + 1 }
active proctype Client() { byte y; ask ! reply, 4; reply ? y; assert(y == 5) }
