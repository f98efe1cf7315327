// Publication as read-copy-update does it: a writer fills a new version and then publishes the
// pointer to it; a reader follows the pointer and sees one version as a whole.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif

struct version {
    int left, right;
};

struct version versions[2] = {{1, 1}, {0, 0}};
_Atomic(struct version *) current = &versions[0];

void *writer(void *unused) {
    struct version *next = &versions[1];
    next->left = 2;
    next->right = 2;
    atomic_store_explicit(&current, next, PUBLISH);
    return NULL;
}

void *reader(void *unused) {
    struct version *seen = atomic_load_explicit(&current, memory_order_acquire);
    int left = seen->left;
    int right = seen->right;
    assert(left == right && left != 0);
    return NULL;
}

int main(void) {
    pthread_t w, r;
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
}
