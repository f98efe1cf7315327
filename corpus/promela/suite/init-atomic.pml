byte n;
proctype P() { assert(n == 5) }
init { atomic { n = 5; run P(); run P() } }
