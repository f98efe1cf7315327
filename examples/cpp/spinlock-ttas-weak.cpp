// The test-and-test-and-set lock with a relaxed store in its release.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define RELEASE std::memory_order_relaxed
#include "spinlock-ttas.cpp"
