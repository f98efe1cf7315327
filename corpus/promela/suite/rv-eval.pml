chan c = [0] of { byte, byte };
active proctype P() { c ! 1, 7; c ! 2, 8 }
active proctype Q() { byte i, x; i = 1; c ? eval(i), x; assert(x == 7); i = 2; c ? eval(i), x; assert(x == 8) }
