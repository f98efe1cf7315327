// The queue lock of Mellor-Crummey and Scott that hands over with a relaxed store.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define PUBLISH std::memory_order_relaxed
#include "mcs.cpp"
