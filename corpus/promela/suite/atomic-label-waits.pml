/* Who waits in the middle of `atomic` is at the label there. */
byte x, y, z;
ltl gone { [] !P@waits }
ltl comes { <> P@waits }
ltl answered { [] (P@waits -> <> (z == 1)) }
active proctype P() { atomic { x = 1; waits: y == 1; z = 1 } }
active proctype Q() { x == 1; y = 1 }
