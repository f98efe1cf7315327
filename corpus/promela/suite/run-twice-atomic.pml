byte n;
proctype H(byte v) { n = n + v }
active proctype P() { atomic { n = 1; run H(1); run H(2) } }
active proctype Q() { assert(n <= 4) }
