chan a = [0] of { byte }; chan b = [0] of { byte };
active proctype P() { byte x; a ! 1; b ? x }
active proctype Q() { byte x; b ! 1; a ? x }
