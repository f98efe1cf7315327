byte n;
proctype Q() { n = _nr_pr; assert(n >= 2) }
init { atomic { run Q(); run Q() } }
