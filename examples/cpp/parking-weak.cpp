// The lock that lets threads sleep, freed by a relaxed load and a relaxed store.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#include <atomic>
static int unlock_by_store(std::atomic<int> &state) {
    int old = state.load(std::memory_order_relaxed);
    state.store(0, std::memory_order_relaxed);
    return old;
}
#define UNLOCK(state) unlock_by_store(state)
#include "parking.cpp"
