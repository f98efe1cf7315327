/* Exercise 8: publishing an object in C.
   A thread fills in an object and publishes a pointer to it. Another thread that sees the pointer
   reads the object. All accesses are relaxed, so under PSO it may see the old contents.
   Task: change one memory order so that the assertion holds under PSO.

   expect: sc  holds
   expect: tso holds
   expect: pso holds
*/
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int data;
static atomic_int ready;

static void *publish(void *unused) {
    atomic_store_explicit(&data, 42, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return 0;
}

static void *use(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_relaxed) == 1)
        assert(atomic_load_explicit(&data, memory_order_relaxed) == 42);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, publish, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
