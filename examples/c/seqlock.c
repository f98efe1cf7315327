// A sequence lock: a reader takes the two values again if a writer was there.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef BEFORE
#define BEFORE memory_order_release
#endif

atomic_uint sequence;
atomic_int left, right;

void *writer(void *unused) {
    unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
    atomic_thread_fence(BEFORE);
    atomic_store_explicit(&left, 1, memory_order_relaxed);
    atomic_store_explicit(&right, 1, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 2, memory_order_release);
    return NULL;
}

void *reader(void *unused) {
    unsigned before, after;
    int l, r;
    do {
        before = atomic_load_explicit(&sequence, memory_order_acquire);
        l = atomic_load_explicit(&left, memory_order_relaxed);
        r = atomic_load_explicit(&right, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&sequence, memory_order_relaxed);
    } while (before != after || before % 2 != 0);
    assert(l == r);
    return NULL;
}

int main(void) {
    pthread_t w, r;
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
}
