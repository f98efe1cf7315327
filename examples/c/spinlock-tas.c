// A test-and-set lock: who swaps 0 for 1 is in.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef RELEASE
#define RELEASE memory_order_release
#endif

atomic_int lock;
int counter;

void acquire(atomic_int *l) {
    while (atomic_exchange_explicit(l, 1, memory_order_acquire))
        ;
}

void release(atomic_int *l) { atomic_store_explicit(l, 0, RELEASE); }

void *worker(void *unused) {
    acquire(&lock);
    counter++;
    release(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 3);
}
