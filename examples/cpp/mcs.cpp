// The queue lock of Mellor-Crummey and Scott: each thread waits at a node of its own.
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

class QueueLock {
    struct Node {
        std::atomic<Node *> next{nullptr};
        std::atomic<bool> waits{true};
    };

public:
    /// Holds the lock while it lives. Its node is on the stack of the thread.
    class Guard {
    public:
        explicit Guard(QueueLock &lock) : held(lock) { held.lock(node); }
        ~Guard() { held.unlock(node); }
        Guard(const Guard &) = delete;
        Guard &operator=(const Guard &) = delete;

    private:
        QueueLock &held;
        Node node;
    };

private:
    void lock(Node &me) {
        Node *before = tail.exchange(&me, std::memory_order_acq_rel);
        if (!before) return;
        before->next.store(&me, std::memory_order_release);
        while (me.waits.load(std::memory_order_acquire)) {}
    }

    void unlock(Node &me) {
        Node *next = me.next.load(std::memory_order_acquire);
        if (!next) {
            Node *expected = &me;
            if (tail.compare_exchange_strong(expected, nullptr, std::memory_order_release, std::memory_order_relaxed))
                return;
            while (!(next = me.next.load(std::memory_order_acquire))) {}
        }
        next->waits.store(false, PUBLISH);
    }

    std::atomic<Node *> tail{nullptr};
};

QueueLock queue;
int counter;

int main() {
    auto work = [] {
        QueueLock::Guard guard(queue);
        counter++;
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    assert(counter == 2);
}
