#define N 2
#if N > 1 && defined(N)
byte x = 1;
#elif N == 1
byte x = 3;
#else
byte x = 2;
#endif
active proctype P() { assert(x == 1) }
