// The queue of Michael and Scott with a relaxed store in the place of the compare-exchange that links a node: the node may be
// seen before its value.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define PUBLISH 0
#include "msqueue.cpp"
