// A test-and-test-and-set lock: threads wait by reading, and swap when the lock looks free.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef RELEASE
#define RELEASE memory_order_release
#endif

atomic_bool held;
int inside;

void lock(void) {
    while (true) {
        while (atomic_load_explicit(&held, memory_order_relaxed))
            ;
        if (!atomic_exchange_explicit(&held, true, memory_order_acquire))
            return;
    }
}

void unlock(void) { atomic_store_explicit(&held, false, RELEASE); }

void *worker(void *unused) {
    lock();
    inside = inside + 1;
    assert(inside == 1);
    inside = inside - 1;
    unlock();
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
