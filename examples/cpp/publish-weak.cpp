// Publication with a relaxed store: the pointer may be seen before the version that it leads to.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define PUBLISH std::memory_order_relaxed
#include "publish.cpp"
