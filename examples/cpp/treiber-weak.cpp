// Treiber's stack whose nodes are linked in by a plain store of the top, not by a compare-exchange: two threads may push over
// each other.
// expect: sc violated
// expect: tso violated
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
    int value;
    Node *next;
};

std::atomic<Node *> top{nullptr};

void push(int value) {
    Node *node = new Node{value, top.load(std::memory_order_acquire)};
    top.store(node, std::memory_order_release);
}

int main() {
    std::thread a(push, 1), b(push, 2);
    a.join();
    b.join();
    assert(top.load()->next != nullptr);
}
