// A bounded queue for many producers and consumers, by Vyukov: each place has a number that says whose turn it is.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef FULL
#define FULL memory_order_release
#endif
#define SIZE 2

struct place {
    atomic_uint turn;
    int item;
};

struct place places[SIZE] = {{0, 0}, {1, 0}};
atomic_uint head, tail;

bool push(int item) {
    unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
    while (true) {
        struct place *place = &places[t % SIZE];
        unsigned turn = atomic_load_explicit(&place->turn, memory_order_acquire);
        if (turn == t) {
            if (atomic_compare_exchange_weak_explicit(&tail, &t, t + 1, memory_order_relaxed,
                                                      memory_order_relaxed)) {
                place->item = item;
                atomic_store_explicit(&place->turn, t + 1, FULL);
                return true;
            }
        } else if ((int)(turn - t) < 0) {
            return false;
        } else {
            t = atomic_load_explicit(&tail, memory_order_relaxed);
        }
    }
}

bool pop(int *item) {
    unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
    while (true) {
        struct place *place = &places[h % SIZE];
        unsigned turn = atomic_load_explicit(&place->turn, memory_order_acquire);
        if (turn == h + 1) {
            if (atomic_compare_exchange_weak_explicit(&head, &h, h + 1, memory_order_relaxed,
                                                      memory_order_relaxed)) {
                *item = place->item;
                atomic_store_explicit(&place->turn, h + SIZE, memory_order_release);
                return true;
            }
        } else if ((int)(turn - (h + 1)) < 0) {
            return false;
        } else {
            h = atomic_load_explicit(&head, memory_order_relaxed);
        }
    }
}

void *producer(void *argument) {
    bool is_in = push((int)(long)argument);
    assert(is_in);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, producer, (void *)1);
    pthread_create(&b, NULL, producer, (void *)2);
    int item, sum = 0;
    if (pop(&item))
        sum += item;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    while (pop(&item))
        sum += item;
    assert(sum == 3);
}
