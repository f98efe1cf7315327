// A test-and-test-and-set lock: threads wait by reading, and swap when the lock looks free.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

#ifndef RELEASE
#define RELEASE std::memory_order_release
#endif

class SpinLock {
public:
    void lock() {
        do {
            while (held.load(std::memory_order_relaxed)) {}
        } while (held.exchange(true, std::memory_order_acquire));
    }
    void unlock() { held.store(false, RELEASE); }

private:
    std::atomic<bool> held{false};
};

SpinLock spin;
int inside;

int main() {
    auto work = [] {
        std::unique_lock<SpinLock> guard(spin);
        inside = inside + 1;
        assert(inside == 1);
        inside = inside - 1;
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
}
