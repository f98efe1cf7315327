// Dekker's lock with fences that order too little: the read of the other's wish may overtake the write of one's own.
// expect: sc holds
// expect: tso violated
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#define ENTER std::memory_order_acq_rel
#include "dekker.cpp"
