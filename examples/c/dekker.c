// Dekker's lock for two threads, with fences.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef ENTER
#define ENTER memory_order_seq_cst
#endif

atomic_int wants[2];
atomic_int turn;
int inside;

void *worker(void *argument) {
    long me = (long)argument;
    long other = 1 - me;
    atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
    atomic_thread_fence(ENTER);
    while (atomic_load_explicit(&wants[other], memory_order_acquire)) {
        if (atomic_load_explicit(&turn, memory_order_relaxed) != me) {
            atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
            while (atomic_load_explicit(&turn, memory_order_relaxed) != me)
                ;
            atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
            atomic_thread_fence(ENTER);
        }
    }
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store_explicit(&turn, other, memory_order_release);
    atomic_store_explicit(&wants[me], 0, memory_order_release);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
