// The queue of Michael and Scott: one compare-exchange links a node, another one moves the tail,
// and everybody helps with the second.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#ifndef PUBLISH
#define PUBLISH 1
#endif

struct node {
    int value;
    _Atomic(struct node *) next;
};

struct node first;
_Atomic(struct node *) head = &first;
_Atomic(struct node *) tail = &first;

void enqueue(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    atomic_init(&node->next, NULL);
    while (true) {
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&last->next, memory_order_acquire);
        if (next != NULL) {
            atomic_compare_exchange_strong(&tail, &last, next);
            continue;
        }
#if PUBLISH
        if (atomic_compare_exchange_strong(&last->next, &next, node)) {
            atomic_compare_exchange_strong(&tail, &last, node);
            return;
        }
#else
        atomic_store_explicit(&last->next, node, memory_order_relaxed);
        atomic_compare_exchange_strong(&tail, &last, node);
        return;
#endif
    }
}

bool dequeue(int *value) {
    while (true) {
        struct node *dummy = atomic_load_explicit(&head, memory_order_acquire);
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&dummy->next, memory_order_acquire);
        if (dummy == last) {
            if (next == NULL)
                return false;
            atomic_compare_exchange_strong(&tail, &last, next);
            continue;
        }
        *value = next->value;
        if (atomic_compare_exchange_strong(&head, &dummy, next))
            return true;
    }
}

void *producer(void *unused) {
    enqueue(1);
    enqueue(2);
    return NULL;
}

void *consumer(void *unused) {
    int a = 0, b = 0;
    if (dequeue(&a)) {
        assert(a == 1);
        if (dequeue(&b))
            assert(b == 2);
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
