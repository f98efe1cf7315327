chan c = [1] of { byte };
active proctype S() { byte x; end1: c ? x; end2: c ? x; busy: c ? x }
active proctype P() { c ! 1; c ! 2 }
