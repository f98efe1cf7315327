byte x = 1, y;
ltl f { [] (P@waits -> <> (x == 0)) }
ltl g { [] !P@waits }
active proctype P() { atomic { skip; waits: y == 2; x = 0 } }
active proctype Q() { do :: y = 1 - y od }
