// A ring buffer whose producer publishes with a relaxed store.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define RELEASE memory_order_relaxed
#include "spsc.c"
