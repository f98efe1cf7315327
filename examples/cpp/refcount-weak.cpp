// A reference count that is decremented and then read again: two threads may both read 0, and the object is freed twice.
// expect: sc violated
// expect: tso violated
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#include <atomic>
static int drop_one(std::atomic<int> &count) {
    count.fetch_sub(1, std::memory_order_acq_rel);
    return count.load(std::memory_order_acquire) + 1;
}
#define DROP(count) drop_one(count)
#include "refcount.cpp"
