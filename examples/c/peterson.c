// Peterson's lock for two threads, with sequentially consistent accesses.
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
#ifndef WANT
#define WANT ENTER
#endif

atomic_bool flag[2];
atomic_int turn;
int inside;

void *worker(void *argument) {
    int me = (int)(long)argument;
    int other = 1 - me;
    atomic_store_explicit(&flag[me], true, WANT);
    atomic_store_explicit(&turn, other, ENTER);
    while (atomic_load(&flag[other]) && atomic_load(&turn) == other)
        ;
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store_explicit(&flag[me], false, memory_order_release);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, worker, (void *)i))
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
