byte turn;
ltl mutex { [] !(P[0]@cs && P[1]@cs) }
ltl enters { <> P[0]@cs }
ltl alternates { [] (P[0]@cs -> (!P[0]@cs || turn == 0)) }
ltl again { [] <> P[1]@cs }
active [2] proctype P() { do :: turn == _pid; cs: turn = 1 - turn od }
