// One thread writes a message and then says that it is there, by relaxed accesses.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int message;
atomic_int full;

void *sender(void *unused) {
    message = 42;
    atomic_store_explicit(&full, 1, memory_order_relaxed);
    return NULL;
}

void *receiver(void *unused) {
    while (!atomic_load_explicit(&full, memory_order_relaxed))
        ;
    assert(message == 42);
    return NULL;
}

int main(void) {
    pthread_t s, r;
    pthread_create(&s, NULL, sender, NULL);
    pthread_create(&r, NULL, receiver, NULL);
    pthread_join(s, NULL);
    pthread_join(r, NULL);
}
