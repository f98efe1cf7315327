// Treiber's stack: the top is exchanged if it is still the one that was seen. Nodes are not freed.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <optional>
#include <thread>

template <typename T>
class Stack {
    struct Node {
        T value;
        Node *next;
    };

public:
    void push(T value) {
        Node *node = new Node{value, top.load(std::memory_order_relaxed)};
        while (!top.compare_exchange_weak(node->next, node, std::memory_order_release, std::memory_order_relaxed)) {}
    }

    std::optional<T> pop() {
        Node *old = top.load(std::memory_order_acquire);
        while (old && !top.compare_exchange_weak(old, old->next, std::memory_order_acquire)) {}
        if (!old) return {};
        return old->value;
    }

private:
    std::atomic<Node *> top{nullptr};
};

Stack<int> stack;

int main() {
    auto work = [](int mine) {
        stack.push(mine);
        auto value = stack.pop();
        assert(value && (*value == 1 || *value == 2));
    };
    std::thread a(work, 1), b(work, 2);
    a.join();
    b.join();
    assert(!stack.pop());
}
