#include "flag.h"

#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif

atomic_int ready;
int value;

void publish(int of) {
    value = of;
    atomic_store_explicit(&ready, 1, PUBLISH);
}
