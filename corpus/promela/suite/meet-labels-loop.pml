chan c = [0] of {byte};
byte n;
active proctype S(){ a: c!3; b: n = 1; d: c!4; e: n = 2 }
active proctype R(){ byte x; do :: w: c?x; z: x = 0; :: n == 9 -> break od }
ltl p { [] (!(S@b) || R@z || R@w) }
ltl p2 { [] (!(S@b) || !R@w || n == 1) }
ltl q { [] (!(S@e) || R@z || R@w) }
ltl r { (S@a) U (R@z) }
ltl s { <> (S@e && R@w) }
ltl t { [] !(S@e && R@w) }
