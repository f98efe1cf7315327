// A lock for many readers or one writer: the word counts readers, and is -1 while a writer is in.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

#ifndef LEAVE
#define LEAVE std::memory_order_release
#endif

class SharedLock {
public:
    void lock_shared() {
        int readers = state.load(std::memory_order_relaxed);
        while (readers < 0 || !state.compare_exchange_weak(readers, readers + 1, std::memory_order_acquire, std::memory_order_relaxed))
            if (readers < 0) readers = state.load(std::memory_order_relaxed);
    }
    void unlock_shared() { state.fetch_sub(1, std::memory_order_release); }

    void lock() {
        int nobody = 0;
        while (!state.compare_exchange_weak(nobody, -1, std::memory_order_acquire, std::memory_order_relaxed)) nobody = 0;
    }
    void unlock() { state.store(0, LEAVE); }

private:
    std::atomic<int> state{0};
};

SharedLock shared;
int left, right;

int main() {
    std::thread writer([] {
        std::lock_guard<SharedLock> guard(shared);
        left++;
        right++;
    });
    auto read = [] {
        std::shared_lock<SharedLock> guard(shared);
        assert(left == right);
    };
    std::thread one(read), two(read);
    writer.join();
    one.join();
    two.join();
}
