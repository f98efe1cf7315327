chan c[2] = [1] of { byte };
proctype P(int i) { c[i]?1 }
init { atomic { int i; i = 0;
 do
 :: i < 2 -> run P(i); i = i + 1
 :: else -> break
 od; c[0]!1; c[1]!1 } }
ltl p { [] (len(c[0]) <= 1) }
ltl q { <> (len(c[0]) == 1) }
ltl r { <> (len(c[1]) == 0 && len(c[0]) == 0) }
