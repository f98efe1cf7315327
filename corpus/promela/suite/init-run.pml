byte n;
proctype P(byte i) { n = n + i }
init { run P(1); run P(2); assert(n <= 3) }
