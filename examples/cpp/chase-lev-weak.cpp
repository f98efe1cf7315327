// The deque of Chase and Lev without the full fence in `take`: the read of the top may overtake the write of the bottom, and
// an item is taken twice.
// expect: sc holds
// expect: tso violated
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define TAKE std::memory_order_acq_rel
#include "chase-lev.cpp"
