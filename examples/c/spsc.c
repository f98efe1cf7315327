// A ring buffer with one producer and one consumer.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef RELEASE
#define RELEASE memory_order_release
#endif
#define SIZE 2
#define ITEMS 3

int ring[SIZE];
atomic_uint head, tail;

bool push(int value) {
    unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
    if (t - atomic_load_explicit(&head, memory_order_acquire) == SIZE)
        return false;
    ring[t % SIZE] = value;
    atomic_store_explicit(&tail, t + 1, RELEASE);
    return true;
}

bool pop(int *value) {
    unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
    if (h == atomic_load_explicit(&tail, memory_order_acquire))
        return false;
    *value = ring[h % SIZE];
    atomic_store_explicit(&head, h + 1, memory_order_release);
    return true;
}

void *producer(void *unused) {
    for (int i = 1; i <= ITEMS; i++)
        while (!push(i))
            ;
    return NULL;
}

void *consumer(void *unused) {
    for (int i = 1; i <= ITEMS; i++) {
        int value = 0;
        while (!pop(&value))
            ;
        assert(value == i);
    }
    return NULL;
}

int main(void) {
    pthread_t p, c;
    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
}
