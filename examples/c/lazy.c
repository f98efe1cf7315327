// A lazy initializer: the first thread that finds the state empty makes the value, the others
// wait for it (double-checked locking).
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef READY
#define READY memory_order_release
#endif

atomic_int ready;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;
atomic_int made;

int get(void) {
    if (!atomic_load_explicit(&ready, memory_order_acquire)) {
        pthread_mutex_lock(&mutex);
        if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
            atomic_fetch_add_explicit(&made, 1, memory_order_relaxed);
            value = 42;
            atomic_store_explicit(&ready, 1, READY);
        }
        pthread_mutex_unlock(&mutex);
    }
    return value;
}

void *worker(void *unused) {
    assert(get() == 42);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(atomic_load(&made) == 1);
}
