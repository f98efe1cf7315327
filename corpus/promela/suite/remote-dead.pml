proctype P(byte k) { byte x = k; x = x + 1; a: x = 9 }
init { byte i; atomic { for (i : 1 .. 2) { run P(i) } } }
ltl r { <> (P[1]:x == 2) }
ltl s { [] (P[2]:x != 9) }
ltl t { <> [] (P[2]:x == 0) }
ltl u { [] (!(P[2]@a) || P[2]:x == 3) }
