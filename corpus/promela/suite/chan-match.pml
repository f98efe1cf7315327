chan c = [2] of { byte, byte };
active proctype P() { c ! 1, 5; c ! 2, 6 }
active proctype Q() { byte x; do :: c ? 1, x -> assert(x == 5) :: c ? 2, x -> assert(x == 6); break od }
