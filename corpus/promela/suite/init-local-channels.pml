byte n;
proctype P(chan x; int i) { x!i; n++ }
init { chan q[2] = [2] of { int }; int i; int v; atomic { i = 0;
 do
 :: i < 2 -> run P(q[i], i); i++
 :: else -> break
 od }; q[1]?v; assert(v == 1); q[0]?v; assert(v == 0) }
ltl r { <> (n == 2) }
