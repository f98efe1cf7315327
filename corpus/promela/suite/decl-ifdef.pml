#define A
#ifdef A
byte x = 1;
#else
byte x = 2;
#endif
active proctype P() { assert(x == 1) }
