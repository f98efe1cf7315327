byte n;
ltl mutex { [] !(P[0]@cs && P[1]@cs) }
active [2] proctype P() { skip; cs: n++; n-- }
