chan c = [2] of { byte, byte };
active proctype P() { c ! 1, 5 }
active proctype Q() { byte x; c ? 2, x }
