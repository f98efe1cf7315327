// The lock that lets threads sleep, freed by a relaxed load and a relaxed store.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#include <stdatomic.h>
extern atomic_int state;
static int unlock_by_store(void) {
    int old = atomic_load_explicit(&state, memory_order_relaxed);
    atomic_store_explicit(&state, 0, memory_order_relaxed);
    return old;
}
#define UNLOCK unlock_by_store()
#include "parking.c"
