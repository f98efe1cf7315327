// The work-stealing deque of Chase and Lev: the owner pushes and takes at the bottom, a thief steals at the top. For the last
// item both try a compare-exchange.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <array>
#include <atomic>
#include <cassert>
#include <optional>
#include <thread>

#ifndef TAKE
#define TAKE std::memory_order_seq_cst
#endif

template <typename T, int N>
class Deque {
public:
    void push(T item) {
        int b = bottom.load(std::memory_order_relaxed);
        items[b % N].store(item, std::memory_order_relaxed);
        bottom.store(b + 1, std::memory_order_release);
    }

    std::optional<T> take() {
        const int b = bottom.load(std::memory_order_relaxed) - 1;
        bottom.store(b, std::memory_order_relaxed);
        std::atomic_thread_fence(TAKE);
        int t = top.load(std::memory_order_relaxed);
        if (t > b) {
            bottom.store(b + 1, std::memory_order_relaxed);
            return std::nullopt;
        }
        std::optional<T> item = items[b % N].load(std::memory_order_relaxed);
        if (t == b) {
            if (!top.compare_exchange_strong(t, t + 1)) item.reset();
            bottom.store(b + 1, std::memory_order_relaxed);
        }
        return item;
    }

    std::optional<T> steal() {
        int t = top.load(std::memory_order_acquire);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (t >= bottom.load(std::memory_order_acquire)) return std::nullopt;
        T item = items[t % N].load(std::memory_order_relaxed);
        if (!top.compare_exchange_strong(t, t + 1)) return std::nullopt;
        return item;
    }

private:
    std::atomic<int> top{0}, bottom{0};
    std::array<std::atomic<T>, N> items{};
};

Deque<int, 4> deque;
std::atomic<int> taken[3];

void once(std::optional<int> item) {
    if (item) assert(taken[*item].exchange(1) == 0);
}

int main() {
    std::thread owner([] {
        deque.push(1);
        deque.push(2);
        once(deque.take());
        once(deque.take());
    });
    std::thread thief([] {
        once(deque.steal());
        once(deque.steal());
    });
    owner.join();
    thief.join();
}
