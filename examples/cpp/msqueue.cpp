// The queue of Michael and Scott: one compare-exchange links a node, another one moves the tail, and everybody helps with the
// second. Nodes are not freed.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <optional>
#include <thread>

#ifndef PUBLISH
#define PUBLISH 1
#endif

template <typename T>
class Queue {
    struct Node {
        T value{};
        std::atomic<Node *> next{nullptr};
    };

public:
    void enqueue(T value) {
        Node *node = new Node{value};
        while (true) {
            Node *last = tail.load(std::memory_order_acquire);
            Node *next = last->next.load(std::memory_order_acquire);
            if (next) {
                tail.compare_exchange_strong(last, next);
                continue;
            }
#if PUBLISH
            if (!last->next.compare_exchange_strong(next, node)) continue;
#else
            last->next.store(node, std::memory_order_relaxed);
#endif
            tail.compare_exchange_strong(last, node);
            return;
        }
    }

    std::optional<T> dequeue() {
        while (true) {
            Node *dummy = head.load(std::memory_order_acquire);
            Node *last = tail.load(std::memory_order_acquire);
            Node *next = dummy->next.load(std::memory_order_acquire);
            if (dummy == last) {
                if (!next) return std::nullopt;
                tail.compare_exchange_strong(last, next);
                continue;
            }
            T value = next->value;
            if (head.compare_exchange_strong(dummy, next)) return value;
        }
    }

private:
    Node first;
    std::atomic<Node *> head{&first}, tail{&first};
};

Queue<int> queue;

int main() {
    std::thread producer([] {
        queue.enqueue(1);
        queue.enqueue(2);
    });
    std::thread consumer([] {
        if (auto a = queue.dequeue()) {
            assert(*a == 1);
            if (auto b = queue.dequeue()) assert(*b == 2);
        }
    });
    producer.join();
    consumer.join();
}
