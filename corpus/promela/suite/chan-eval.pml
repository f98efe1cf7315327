chan c = [2] of { byte };
byte want = 2;
active proctype P() { c ! 1; c ! 2 }
active proctype Q() { c ? eval(want); assert(false) }
