chan c = [2] of { byte };
ltl p { [] (len(c) < 2) }
active proctype P() { c ! 1; c ! 2 }
active proctype Q() { byte x; c ? x; c ? x }
