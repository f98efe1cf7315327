// A sequence lock without the fence behind its first store: the data may reach memory before the sequence number is odd.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define BEFORE std::memory_order_relaxed
#include "seqlock.cpp"
