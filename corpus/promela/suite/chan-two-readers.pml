chan c = [2] of { byte };
byte got;
active proctype P() { c ! 1; c ! 2 }
active [2] proctype Q() { byte x; c ? x; got = got + x; assert(got <= 3) }
