// The queue lock of Craig, Landin and Hagersten: each thread waits at the node of the thread before it, and takes that node for
// its next turn.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

#ifndef PUBLISH
#define PUBLISH std::memory_order_release
#endif

struct Node {
    std::atomic<bool> locked{false};
};

class QueueLock {
public:
    void lock(Node *me) {
        me->locked.store(true, std::memory_order_relaxed);
        Node *before = tail.exchange(me, std::memory_order_acq_rel);
        while (before->locked.load(std::memory_order_acquire)) {}
    }

    void unlock(Node *me) { me->locked.store(false, PUBLISH); }

private:
    Node free;
    std::atomic<Node *> tail{&free};
};

/// One turn of one thread.
class Turn {
public:
    Turn(QueueLock &lock, Node &node) : held(lock), node(node) { held.lock(&node); }
    ~Turn() { held.unlock(&node); }
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

private:
    QueueLock &held;
    Node &node;
};

QueueLock queue;
Node nodes[2];
int counter;

int main() {
    auto work = [](Node &node) {
        Turn turn(queue, node);
        counter++;
    };
    std::thread a(work, std::ref(nodes[0])), b(work, std::ref(nodes[1]));
    a.join();
    b.join();
    assert(counter == 2);
}
