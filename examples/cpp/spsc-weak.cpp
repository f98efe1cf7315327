// The queue with a relaxed store of `tail`: the consumer may see it before the item.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define PUBLISH std::memory_order_relaxed
#include "spsc.cpp"
