chan c = [2] of { byte };
byte n;
active proctype P() { atomic { c ! 1; n++; c ! 2; n++ } }
active proctype Q() { assert(len(c) == n) }
