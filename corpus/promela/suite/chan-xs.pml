chan c = [1] of { byte };
active proctype P() { xs c; c ! 1 }
active proctype Q() { byte x; xr c; c ? x }
