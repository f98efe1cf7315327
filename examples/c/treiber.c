// Treiber's stack: the top is exchanged if it is still the one that was seen.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef INIT
#define INIT memory_order_relaxed
#endif

struct node {
    int value;
    struct node *next;
};

_Atomic(struct node *) top;

void push(int value) {
    struct node *node = malloc(sizeof(struct node));
    node->value = value;
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do {
        node->next = old;
    } while (!atomic_compare_exchange_weak_explicit(&top, &old, node, memory_order_release, INIT));
}

int pop(void) {
    struct node *old = atomic_load_explicit(&top, memory_order_acquire);
    while (old != NULL && !atomic_compare_exchange_weak_explicit(
                              &top, &old, old->next, memory_order_acquire, memory_order_acquire))
        ;
    return old == NULL ? 0 : old->value;
}

void *one(void *unused) {
    push(1);
    int value = pop();
    assert(value == 1 || value == 2);
    return NULL;
}

void *two(void *unused) {
    push(2);
    int value = pop();
    assert(value == 1 || value == 2);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(atomic_load(&top) == NULL);
}
