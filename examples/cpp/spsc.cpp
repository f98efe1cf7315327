// A bounded queue for one producer and one consumer. The producer publishes an item by a release store of `tail`, and the
// consumer gives its place back by a release store of `head`.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <thread>

#ifndef PUBLISH
#define PUBLISH std::memory_order_release
#endif

template <typename T, int N>
class Queue {
public:
    bool push(const T &item) {
        int t = tail.load(std::memory_order_relaxed);
        if (t - head.load(std::memory_order_acquire) == N)
            return false;
        items[t % N] = item;
        tail.store(t + 1, PUBLISH);
        return true;
    }

    bool pop(T &item) {
        int h = head.load(std::memory_order_relaxed);
        if (h == tail.load(std::memory_order_acquire))
            return false;
        item = items[h % N];
        head.store(h + 1, std::memory_order_release);
        return true;
    }

private:
    std::atomic<int> head{0}, tail{0};
    T items[N];
};

Queue<int, 2> queue;

int main() {
    std::thread producer([] {
        for (int i = 1; i <= 3; i++)
            while (!queue.push(i)) {
            }
    });
    for (int i = 1; i <= 3; i++) {
        int item;
        while (!queue.pop(item)) {
        }
        assert(item == i);
    }
    producer.join();
}
