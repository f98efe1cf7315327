byte x, y;
ltl answered { [] ((x == 1) -> <> (y == 1)) }
ltl unanswered { [] ((y == 1) -> <> (x == 2)) }
ltl returns { [] <> (x == 0 && y == 0) }
active proctype P() { do :: x == 0 -> x = 1; y == 1; x = 0; y == 0 od }
active proctype Q() { do :: x == 1 -> y = 1 :: x == 0 -> y = 0 od }
