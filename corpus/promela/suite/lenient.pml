mtype = { A, B C, D, };
byte x, i; bool a;
#define E(p) (<> p)
#define f [] (x < 9)
active proctype P() { byte r[2]; _ = r[0];
 do :: i < 2 -> int t = 5; i++ :: else -> break od; t = t + 1; assert(t == 6);
 if :: x == 5 -> skip :: else x = 2; fi; a = true }
ltl p { f }
ltl q { [] ((x == 2) -> E(a)) }
ltl s { [] (a <-> (x == 2)) }
