// The queue lock of Craig, Landin and Hagersten: each thread waits at the node of the thread
// before it, and takes that node for its next turn.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif
#define N 2

struct node {
    atomic_int locked;
};

struct node nodes[N + 1];
_Atomic(struct node *) tail = &nodes[N];
int counter;

void *worker(void *argument) {
    struct node *me = &nodes[(long)argument];
    atomic_store_explicit(&me->locked, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, me, memory_order_acq_rel);
    while (atomic_load_explicit(&before->locked, memory_order_acquire))
        ;
    counter++;
    atomic_store_explicit(&me->locked, 0, PUBLISH);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
}
