chan c = [0] of { byte };
active proctype P() { c ! 1 }
active proctype Q() { c ? 2 }
