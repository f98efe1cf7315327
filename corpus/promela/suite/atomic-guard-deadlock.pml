byte x;
chan d = [0] of { byte };
active proctype P() { atomic { !x; d ! 1 } }
