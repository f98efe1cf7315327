// The test-and-set lock with a relaxed clear in its release: the counter may reach memory after the lock is free.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define RELEASE std::memory_order_relaxed
#include "spinlock-tas.cpp"
