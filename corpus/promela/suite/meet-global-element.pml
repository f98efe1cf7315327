chan c = [0] of {byte};
byte y[2]; byte n;
active proctype S(){ a: c!3; b: n = 1 }
active proctype R(){ w: c?y[n]; z: skip }
ltl p { [] (!(S@b) || y[0] == 3) }
ltl q { [] (!(R@z) || y[0] == 3) }
ltl r { (S@a) U (y[0] == 3) }
ltl s { (S@a) U (R@z) }
