chan c = [1] of { byte };
active proctype P() { byte x; endp: do :: c ? x od }
active proctype Q() { c ! 1; c ! 2; endq: false }
