// Peterson's lock for two threads, with sequentially consistent accesses.
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
#ifndef WANT
#define WANT ENTER
#endif

class Peterson {
public:
    void lock(int me) {
        const int other = 1 - me;
        flag[me].store(true, WANT);
        turn.store(other, ENTER);
        while (flag[other] && turn == other) {}
    }

    void unlock(int me) { flag[me].store(false, std::memory_order_release); }

private:
    std::array<std::atomic<bool>, 2> flag{};
    std::atomic<int> turn{0};
};

Peterson peterson;
int inside;

int main() {
    auto work = [](int me) {
        peterson.lock(me);
        inside++;
        assert(inside == 1);
        inside--;
        peterson.unlock(me);
    };
    std::thread a(work, 0), b(work, 1);
    a.join();
    b.join();
}
