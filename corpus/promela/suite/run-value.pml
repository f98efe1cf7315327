proctype Q() { skip }
init { byte p; p = run Q(); assert(p == 1); p = run Q(); assert(p == 2) }
