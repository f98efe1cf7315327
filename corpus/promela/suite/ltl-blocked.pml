/* A run that ends, or in which nobody can go on, stays in its last state. */
byte x, y;
chan c = [0] of { byte };
ltl stays { <> [] (x == 1) }
ltl comes { <> (y == 1) }
ltl none { [] (len(c) == 0) }
active proctype P() { x = 1; c ! 1; y = 1 }
active proctype Q() { end: (x == 2) }
