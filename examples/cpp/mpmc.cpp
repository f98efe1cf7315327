// A bounded queue for many producers and consumers, by Vyukov: each place has a number that says whose turn it is.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <cstddef>
#include <optional>
#include <thread>

#ifndef FULL
#define FULL std::memory_order_release
#endif

template <typename T, std::size_t N>
class Queue {
public:
    Queue() {
        for (std::size_t i = 0; i < N; i++) places[i].turn.store(i, std::memory_order_relaxed);
    }

    bool push(T item) {
        std::size_t t = tail.load(std::memory_order_relaxed);
        while (true) {
            Place &place = places[t % N];
            std::size_t turn = place.turn.load(std::memory_order_acquire);
            if (turn == t) {
                if (tail.compare_exchange_weak(t, t + 1, std::memory_order_relaxed)) {
                    place.item = std::move(item);
                    place.turn.store(t + 1, FULL);
                    return true;
                }
            } else if (static_cast<std::ptrdiff_t>(turn - t) < 0) {
                return false;
            } else {
                t = tail.load(std::memory_order_relaxed);
            }
        }
    }

    std::optional<T> pop() {
        std::size_t h = head.load(std::memory_order_relaxed);
        while (true) {
            Place &place = places[h % N];
            std::size_t turn = place.turn.load(std::memory_order_acquire);
            if (turn == h + 1) {
                if (head.compare_exchange_weak(h, h + 1, std::memory_order_relaxed)) {
                    T item = std::move(place.item);
                    place.turn.store(h + N, std::memory_order_release);
                    return item;
                }
            } else if (static_cast<std::ptrdiff_t>(turn - (h + 1)) < 0) {
                return std::nullopt;
            } else {
                h = head.load(std::memory_order_relaxed);
            }
        }
    }

private:
    struct alignas(64) Place {
        std::atomic<std::size_t> turn;
        T item;
    };

    Place places[N];
    alignas(64) std::atomic<std::size_t> head{0};
    alignas(64) std::atomic<std::size_t> tail{0};
};

int main() {
    Queue<int, 2> queue;
    auto produce = [&queue](int item) {
        bool is_in = queue.push(item);
        assert(is_in);
    };
    std::thread a(produce, 1), b(produce, 2);
    int sum = queue.pop().value_or(0);
    a.join();
    b.join();
    while (auto item = queue.pop()) sum += *item;
    assert(sum == 3);
}
