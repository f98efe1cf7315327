mtype = { req, ack };
chan c = [0] of { mtype, byte };
active proctype P() { byte x; c ! req(4); c ? ack(x); assert(x == 5) }
active proctype Q() { byte y; c ? req(y); c ! ack(y + 1) }
