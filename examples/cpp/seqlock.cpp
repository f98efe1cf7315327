// A sequence lock: a reader takes the two values again if a writer was there.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <thread>
#include <utility>

#ifndef BEFORE
#define BEFORE std::memory_order_release
#endif

class SeqLock {
public:
    void write(int value) {
        unsigned s = sequence.load(std::memory_order_relaxed);
        sequence.store(s + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(BEFORE);
        left.store(value, std::memory_order_relaxed);
        right.store(value, std::memory_order_relaxed);
        sequence.store(s + 2, std::memory_order_release);
    }

    std::pair<int, int> read() const {
        while (true) {
            unsigned before = sequence.load(std::memory_order_acquire);
            std::pair<int, int> both(left.load(std::memory_order_relaxed), right.load(std::memory_order_relaxed));
            std::atomic_thread_fence(std::memory_order_acquire);
            unsigned after = sequence.load(std::memory_order_relaxed);
            if (before == after && before % 2 == 0) return both;
        }
    }

private:
    std::atomic<unsigned> sequence{0};
    std::atomic<int> left{0}, right{0};
};

SeqLock pair;

int main() {
    std::thread writer([] { pair.write(1); });
    std::thread reader([] {
        auto [left, right] = pair.read();
        assert(left == right);
    });
    writer.join();
    reader.join();
}
