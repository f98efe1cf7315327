// The queue with a relaxed store of `tail`: the consumer may see it before the item.
#define PUBLISH std::memory_order_relaxed
#include "spsc.cpp"
