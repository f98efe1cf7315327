byte n;
ltl mutex { [] !(P[0]@cs && P[1]@cs) }
bit l;
active [2] proctype P() { atomic { l == 0 -> l = 1 } cs: n++; n--; l = 0 }
