// The queue lock of Craig, Landin and Hagersten that hands over with a relaxed store.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define PUBLISH std::memory_order_relaxed
#include "clh.cpp"
