// A ticket lock: threads enter in the order in which they take tickets.
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
#ifndef N
#define N 2
#endif

struct ticket_lock {
    atomic_uint next;
    atomic_uint serving;
};

struct ticket_lock the_lock;
int shared;

static void lock(struct ticket_lock *l) {
    unsigned mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&l->serving, memory_order_acquire) != mine)
        ;
}

static void unlock(struct ticket_lock *l) {
    unsigned now = atomic_load_explicit(&l->serving, memory_order_relaxed);
    atomic_store_explicit(&l->serving, now + 1, RELEASE);
}

void *worker(void *argument) {
    int me = (int)(long)argument;
    lock(&the_lock);
    shared = me;
    assert(shared == me);
    unlock(&the_lock);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(threads + i, NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&the_lock.serving) == N);
}
