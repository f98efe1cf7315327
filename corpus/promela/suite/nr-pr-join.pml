byte n;
proctype Q() { n++ }
init { run Q(); run Q(); (_nr_pr == 1) -> assert(n == 2) }
