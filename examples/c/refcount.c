// A reference count: who drops the last reference frees the object.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef DROP
#define DROP(count) atomic_fetch_sub_explicit(count, 1, memory_order_acq_rel)
#endif

struct object {
    atomic_int references;
    int data;
};

struct object *object;

void drop(struct object *o) {
    if (DROP(&o->references) == 1)
        free(o);
}

void *worker(void *unused) {
    struct object *mine = object;
    assert(mine->data == 7);
    drop(mine);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    object = malloc(sizeof(struct object));
    object->data = 7;
    atomic_init(&object->references, 2);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
