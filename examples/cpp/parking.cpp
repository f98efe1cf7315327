// A lock that lets threads sleep: 0 is free, 1 is held, 2 is held and somebody sleeps. A thread that sleeps may wake at any
// time, and looks again.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

#ifndef UNLOCK
#define UNLOCK(state) state.exchange(0, std::memory_order_release)
#endif

class ParkingLock {
public:
    void lock() {
        int seen = 0;
        if (state.compare_exchange_strong(seen, 1, std::memory_order_acquire, std::memory_order_relaxed)) return;
        while (state.exchange(2, std::memory_order_acquire) != 0) {
            int before = wakeups.load(std::memory_order_acquire);
            while (state.load(std::memory_order_relaxed) == 2 && wakeups.load(std::memory_order_acquire) == before) {}
        }
    }

    void unlock() {
        if (UNLOCK(state) == 2) wakeups.fetch_add(1, std::memory_order_release);
    }

private:
    std::atomic<int> state{0}, wakeups{0};
};

ParkingLock lock;
int inside;

int main() {
    auto work = [] {
        std::lock_guard<ParkingLock> guard(lock);
        inside++;
        assert(inside == 1);
        inside--;
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
}
