// The work-stealing deque of Chase and Lev: the owner pushes and takes at the bottom, a thief
// steals at the top. For the last item both try a compare-exchange.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef TAKE
#define TAKE memory_order_seq_cst
#endif
#define SIZE 4
#define EMPTY (-1)

atomic_int top, bottom;
atomic_int items[SIZE];
atomic_int taken[3];

void push(int item) {
    int b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&items[b % SIZE], item, memory_order_relaxed);
    atomic_store_explicit(&bottom, b + 1, memory_order_release);
}

int take(void) {
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    atomic_thread_fence(TAKE);
    int t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        return EMPTY;
    }
    int item = atomic_load_explicit(&items[b % SIZE], memory_order_relaxed);
    if (t == b) {
        if (!atomic_compare_exchange_strong(&top, &t, t + 1))
            item = EMPTY;
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return item;
}

int steal(void) {
    int t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    int b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b)
        return EMPTY;
    int item = atomic_load_explicit(&items[t % SIZE], memory_order_relaxed);
    if (!atomic_compare_exchange_strong(&top, &t, t + 1))
        return EMPTY;
    return item;
}

void once(int item) {
    if (item != EMPTY)
        assert(atomic_exchange(&taken[item], 1) == 0);
}

void *owner(void *unused) {
    push(1);
    push(2);
    once(take());
    once(take());
    return NULL;
}

void *thief(void *unused) {
    once(steal());
    once(steal());
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
