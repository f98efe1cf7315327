byte n;
proctype C() { n = 3 }
proctype B() { n = 2; run C() }
proctype A() { n = 1; run B() }
init { run A(); n == 3 }
