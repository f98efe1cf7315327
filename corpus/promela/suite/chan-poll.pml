chan c = [2] of { byte };
active proctype P() { c ! 1; if :: c ? [1] -> skip :: else -> assert(false) fi; if :: c ? [2] -> assert(false) :: else -> skip fi }
