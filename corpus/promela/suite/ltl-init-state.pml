/* A formula is about the state before `init` as well: x is 0 there. */
byte x;
ltl before { (x == 0) U (x == 1) }
ltl always_one { [] (x == 1) }
ltl once { <> (x == 0) }
ltl again { [] <> (x == 0) }
ltl late { (x == 1) W (x == 2) }
proctype P() { x = 2 }
init { atomic { x = 1; run P() } }
