// Michael-Scott queue with tagged head, as in public lock-free libraries.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>
#include <vector>
template <typename T>
class SpscRing {
    std::vector<T> slots_;
    alignas(64) std::atomic<std::size_t> head_{0};
    alignas(64) std::atomic<std::size_t> tail_{0};
public:
    explicit SpscRing(std::size_t capacity) : slots_(capacity + 1) {}
    bool try_push(const T& v) {
        auto const head = head_.load(std::memory_order_relaxed);
        auto next = head + 1;
        if (next == slots_.size()) next = 0;
        if (next == tail_.load(std::memory_order_acquire)) return false;
        slots_[head] = v;
        head_.store(next, std::memory_order_release);
        return true;
    }
    bool try_pop(T& v) {
        auto const tail = tail_.load(std::memory_order_relaxed);
        if (tail == head_.load(std::memory_order_acquire)) return false;
        v = std::move(slots_[tail]);
        auto next = tail + 1;
        if (next == slots_.size()) next = 0;
        tail_.store(next, std::memory_order_release);
        return true;
    }
};
int main() {
    SpscRing<int> q(2);
    std::thread producer([&] { for (int i = 1; i <= 2; ++i) while (!q.try_push(i)) std::this_thread::yield(); });
    int sum = 0;
    for (int n = 0; n < 2;) { int v; if (q.try_pop(v)) { sum += v; ++n; } }
    producer.join();
    assert(sum == 3);
}
