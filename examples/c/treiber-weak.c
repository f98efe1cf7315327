// Treiber's stack whose nodes are linked in by a plain store of the top, not by a compare-exchange:
// two threads may push over each other, and a node may be seen before its value.
// expect: sc violated
// expect: tso violated
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

_Atomic(struct node *) top;

void *pusher(void *argument) {
    struct node *node = malloc(sizeof(struct node));
    node->value = (int)(long)argument;
    node->next = atomic_load_explicit(&top, memory_order_acquire);
    atomic_store_explicit(&top, node, memory_order_release);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, pusher, (void *)1);
    pthread_create(&b, NULL, pusher, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    struct node *first = atomic_load(&top);
    assert(first->next != NULL);
}
