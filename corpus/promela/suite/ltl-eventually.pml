byte x, y;
ltl comes { <> (x == 2) }
ltl other { <> (y == 1) }
ltl stays { <> [] (x == 2) }
ltl again { [] <> (y == 1) }
active proctype P() { x = 1; x = 2 }
active proctype Q() { do :: y = 1 :: y = 0 od }
