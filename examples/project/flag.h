#include <stdatomic.h>

extern atomic_int ready;
extern int value;

void publish(int of);
