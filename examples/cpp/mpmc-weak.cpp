// The bounded queue whose producers say with a relaxed store that a place is full: a consumer may see the number before the
// item.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define FULL std::memory_order_relaxed
#include "mpmc.cpp"
