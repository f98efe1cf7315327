// A lazy initializer: the first thread that finds no value makes it, the others wait for it (double-checked locking).
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

#ifndef READY
#define READY std::memory_order_release
#endif

template <typename T>
class Lazy {
public:
    template <typename Make>
    const T &get(Make make) {
        if (!ready.load(std::memory_order_acquire)) {
            std::lock_guard<std::mutex> guard(making);
            if (!ready.load(std::memory_order_relaxed)) {
                value = make();
                ready.store(true, READY);
            }
        }
        return value;
    }

private:
    std::atomic<bool> ready{false};
    std::mutex making;
    T value{};
};

Lazy<int> lazy;
std::atomic<int> made{0};

int main() {
    auto work = [] {
        assert(lazy.get([] { made.fetch_add(1, std::memory_order_relaxed); return 42; }) == 42);
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    assert(made == 1);
}
