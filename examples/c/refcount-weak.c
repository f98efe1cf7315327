// A reference count that is decremented and then read again: two threads may both read 0, and the
// object is freed twice.
// expect: sc violated
// expect: tso violated
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#include <stdatomic.h>
static int drop_one(atomic_int *count) {
    atomic_fetch_sub_explicit(count, 1, memory_order_acq_rel);
    return atomic_load_explicit(count, memory_order_acquire) + 1;
}
#define DROP(count) drop_one(count)
#include "refcount.c"
