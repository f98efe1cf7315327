// The barrier that lets the others go with a relaxed store: the count may be seen as full in the next round, and threads
// wait for ever.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define GO std::memory_order_relaxed
#include "barrier.cpp"
