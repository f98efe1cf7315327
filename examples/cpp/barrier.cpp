// A barrier that turns its sense: the last thread to arrive lets the others go.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <array>
#include <atomic>
#include <cassert>
#include <thread>

#ifndef GO
#define GO std::memory_order_release
#endif

class Barrier {
public:
    explicit Barrier(int threads) : threads(threads) {}

    void wait(int turn) {
        if (waiting.fetch_add(1, std::memory_order_acq_rel) == threads - 1) {
            waiting.store(0, std::memory_order_relaxed);
            sense.store(turn, GO);
        } else {
            while (sense.load(std::memory_order_acquire) != turn) {}
        }
    }

private:
    const int threads;
    std::atomic<int> waiting{0}, sense{0};
};

int main() {
    Barrier barrier(2);
    std::array<int, 2> written{};
    auto work = [&](int me) {
        written[me] = 1;
        barrier.wait(1);
        assert(written[1 - me] == 1);
        barrier.wait(2);
    };
    std::thread a(work, 0), b(work, 1);
    a.join();
    b.join();
}
