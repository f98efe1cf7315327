chan c = [0] of {byte};
byte y;
active proctype S(){ a: c!3; b: y = 1 }
active proctype R(){ byte x; w: c?x; z: skip }
ltl p { [] (!(S@b) || R[1]:x == 3) }
ltl q { [] (!(R[1]:x == 3) || !S@a) }
ltl r { <> (R[1]:x == 3) }
