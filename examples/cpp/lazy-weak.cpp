// The lazy initializer that says with a relaxed store that the value is ready.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define READY std::memory_order_relaxed
#include "lazy.cpp"
