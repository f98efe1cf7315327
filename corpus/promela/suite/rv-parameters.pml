chan a = [0] of { byte }; chan b = [0] of { byte };
proctype S(chan c; byte v) { c ! v }
proctype R(chan c; byte v) { byte x; c ? x; assert(x == v) }
init { atomic { run S(a, 1); run S(b, 2); run R(a, 1); run R(b, 2) } }
