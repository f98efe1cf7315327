// Peterson's lock as x86 needs it: one seq_cst store is the fence that TSO wants, and the store before it may be release.
// The language promises less: the seq_cst load of a flag may miss the release store, so both threads may enter.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 violated
#define WANT std::memory_order_release
#include "peterson.cpp"
