#include <assert.h>
#include <pthread.h>

#include "flag.h"

static void *writer(void *unused) {
    publish(42);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    if (atomic_load_explicit(&ready, memory_order_acquire)) {
        assert(value == 42);
    }
    pthread_join(thread, 0);
}
