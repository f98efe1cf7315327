chan c = [0] of {byte};
byte y;
active proctype S(){ a: c!3; b: y = 1; f: y = 2 }
active proctype R(){ byte x; w: c?x; z: x = 4; y == 2 -> v: y == 7 }
ltl p { [] (!(S@b) || R[1]:x >= 3) }
ltl q { [] (!(R[1]:x == 3) || !S@a) }
ltl r { <> (R[1]:x == 3) }
ltl s { [] (!(S@f) || R[1]:x == 4) }
ltl t { (S@a) U (R[1]:x == 3) }
ltl u { [] ((R[1]:x == 3) -> <> (R[1]:x == 4)) }
