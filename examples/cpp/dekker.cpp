// Dekker's lock for two threads, with fences.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <array>
#include <atomic>
#include <cassert>
#include <thread>

#ifndef ENTER
#define ENTER std::memory_order_seq_cst
#endif

class Dekker {
public:
    void lock(int me) {
        want(me);
        while (wants[1 - me].load(std::memory_order_acquire)) {
            if (turn.load(std::memory_order_relaxed) == me) continue;
            wants[me].store(false, std::memory_order_relaxed);
            while (turn.load(std::memory_order_relaxed) != me) {}
            want(me);
        }
    }

    void unlock(int me) {
        turn.store(1 - me, std::memory_order_release);
        wants[me].store(false, std::memory_order_release);
    }

private:
    void want(int me) {
        wants[me].store(true, std::memory_order_relaxed);
        std::atomic_thread_fence(ENTER);
    }

    std::array<std::atomic<bool>, 2> wants{};
    std::atomic<int> turn{0};
};

Dekker dekker;
int inside;

int main() {
    auto work = [](int me) {
        dekker.lock(me);
        inside++;
        assert(inside == 1);
        inside--;
        dekker.unlock(me);
    };
    std::thread a(work, 0), b(work, 1);
    a.join();
    b.join();
}
