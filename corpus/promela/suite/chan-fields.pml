mtype = { msg, ack };
chan c = [2] of { mtype, byte, bool };
active proctype P() { c ! msg, 7, true; c ! ack(8, false) }
active proctype Q() { byte x; bool f; c ? msg(x, f); assert(x == 7 && f); c ? ack, x, f; assert(x == 8 && !f) }
