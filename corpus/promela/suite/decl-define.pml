#define N 3
#define INC(x) x = x + N
byte x;
active proctype P() { INC(x); assert(x == N) }
