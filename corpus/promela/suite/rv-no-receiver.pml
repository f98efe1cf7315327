chan c = [0] of { byte };
active proctype P() { c ! 3 }
