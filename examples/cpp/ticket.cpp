// A ticket lock: threads enter in the order in which they take tickets.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

#ifndef RELEASE
#define RELEASE std::memory_order_release
#endif

class TicketLock {
public:
    void lock() {
        const unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
        while (serving.load(std::memory_order_acquire) != mine) {}
    }

    void unlock() { serving.store(serving.load(std::memory_order_relaxed) + 1, RELEASE); }

    unsigned served() const { return serving; }

private:
    std::atomic<unsigned> next{0}, serving{0};
};

TicketLock ticket;
int shared;

int main() {
    auto work = [](int me) {
        std::lock_guard<TicketLock> guard(ticket);
        shared = me;
        assert(shared == me);
    };
    std::thread a(work, 0), b(work, 1);
    a.join();
    b.join();
    assert(ticket.served() == 2);
}
