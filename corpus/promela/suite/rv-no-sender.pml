chan c = [0] of { byte };
active proctype P() { byte x; c ? x }
