chan c = [0] of {bit};
active proctype S(){ a: c!1; b: skip }
active proctype R(){ bit x; w: c?x; z: skip }
ltl p { [] !(S@b && R@w) }
ltl q { [] !(R@z && S@a) }
