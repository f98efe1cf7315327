// A test-and-set lock: who sets the flag is in. Three threads count under it.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

#ifndef RELEASE
#define RELEASE std::memory_order_release
#endif

class SpinLock {
public:
    void lock() {
        while (flag.test_and_set(std::memory_order_acquire)) {}
    }
    void unlock() { flag.clear(RELEASE); }

private:
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
};

SpinLock spin;
int counter;

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([] {
            std::lock_guard<SpinLock> guard(spin);
            counter++;
        });
    for (auto &thread : threads) thread.join();
    assert(counter == 3);
}
