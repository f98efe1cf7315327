// A lock that lets threads sleep: 0 is free, 1 is held, 2 is held and somebody sleeps. A thread
// that sleeps may wake at any time, and looks again.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef UNLOCK
#define UNLOCK atomic_exchange_explicit(&state, 0, memory_order_release)
#endif

atomic_int state;
atomic_int wakeups;
int inside;

void lock(void) {
    int seen = 0;
    if (atomic_compare_exchange_strong_explicit(&state, &seen, 1, memory_order_acquire,
                                                memory_order_relaxed))
        return;
    while (atomic_exchange_explicit(&state, 2, memory_order_acquire) != 0) {
        int before = atomic_load_explicit(&wakeups, memory_order_acquire);
        while (atomic_load_explicit(&state, memory_order_relaxed) == 2 &&
               atomic_load_explicit(&wakeups, memory_order_acquire) == before)
            ;
    }
}

void unlock(void) {
    if (UNLOCK == 2)
        atomic_fetch_add_explicit(&wakeups, 1, memory_order_release);
}

void *worker(void *unused) {
    lock();
    inside++;
    assert(inside == 1);
    inside--;
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
