// The queue lock of Mellor-Crummey and Scott: each thread waits at a node of its own.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif
#ifndef N
#define N 2
#endif

struct node {
    _Atomic(struct node *) next;
    atomic_int waits;
};

_Atomic(struct node *) tail;
struct node nodes[N];
int counter;

void lock(struct node *me) {
    atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&me->waits, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, me, memory_order_acq_rel);
    if (before == NULL)
        return;
    atomic_store_explicit(&before->next, me, memory_order_release);
    while (atomic_load_explicit(&me->waits, memory_order_acquire))
        ;
}

void unlock(struct node *me) {
    struct node *next = atomic_load_explicit(&me->next, memory_order_acquire);
    if (next == NULL) {
        struct node *expected = me;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, memory_order_release,
                                                    memory_order_relaxed))
            return;
        while ((next = atomic_load_explicit(&me->next, memory_order_acquire)) == NULL)
            ;
    }
    atomic_store_explicit(&next->waits, 0, PUBLISH);
}

void *worker(void *argument) {
    struct node *me = argument;
    lock(me);
    counter++;
    unlock(me);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, &nodes[i]);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
}
