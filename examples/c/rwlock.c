// A lock for many readers or one writer: the word counts readers, and is -1 while a writer is in.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef LEAVE
#define LEAVE memory_order_release
#endif

atomic_int state;
int left, right;

void read_lock(void) {
    int readers = atomic_load_explicit(&state, memory_order_relaxed);
    while (readers < 0 || !atomic_compare_exchange_weak_explicit(&state, &readers, readers + 1,
                                                                 memory_order_acquire,
                                                                 memory_order_relaxed))
        if (readers < 0)
            readers = atomic_load_explicit(&state, memory_order_relaxed);
}

void read_unlock(void) { atomic_fetch_sub_explicit(&state, 1, memory_order_release); }

void write_lock(void) {
    int nobody = 0;
    while (!atomic_compare_exchange_weak_explicit(&state, &nobody, -1, memory_order_acquire,
                                                  memory_order_relaxed))
        nobody = 0;
}

void write_unlock(void) { atomic_store_explicit(&state, 0, LEAVE); }

void *writer(void *unused) {
    write_lock();
    left++;
    right++;
    write_unlock();
    return NULL;
}

void *reader(void *unused) {
    read_lock();
    assert(left == right);
    read_unlock();
    return NULL;
}

int main(void) {
    pthread_t w, r, s;
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_create(&s, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
    pthread_join(s, NULL);
}
