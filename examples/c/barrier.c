// A barrier that turns its sense: the last thread to arrive lets the others go.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef GO
#define GO memory_order_release
#endif
#define N 2

atomic_int waiting;
atomic_int sense;
int written[N];

void barrier(int turn) {
    if (atomic_fetch_add_explicit(&waiting, 1, memory_order_acq_rel) == N - 1) {
        atomic_store_explicit(&waiting, 0, memory_order_relaxed);
        atomic_store_explicit(&sense, turn, GO);
    } else {
        while (atomic_load_explicit(&sense, memory_order_acquire) != turn)
            ;
    }
}

void *worker(void *argument) {
    int me = (int)(long)argument;
    written[me] = 1;
    barrier(1);
    assert(written[1 - me] == 1);
    barrier(2);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
}
