// Peterson's lock with a release store of the turn: the read of the other flag may overtake it.
// expect: sc holds
// expect: tso violated
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define ENTER std::memory_order_release
#include "peterson.cpp"
