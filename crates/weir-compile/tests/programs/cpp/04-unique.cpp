#include <atomic>
#include <cassert>
#include <memory>
#include <thread>
struct Node { int value; Node* next; };
class TreiberStack {
    std::atomic<Node*> head{nullptr};
public:
    ~TreiberStack() { while (auto n = pop()) {} }
    void push(int v) { auto n = std::make_unique<Node>(Node{v, nullptr}); n->next = head.load(std::memory_order_relaxed);
        while (!head.compare_exchange_weak(n->next, n.get(), std::memory_order_release, std::memory_order_relaxed)) {} n.release(); }
    std::unique_ptr<Node> pop() { Node* n = head.load(std::memory_order_acquire);
        while (n && !head.compare_exchange_weak(n, n->next, std::memory_order_acquire, std::memory_order_acquire)) {}
        return std::unique_ptr<Node>(n); }
};
int main() { TreiberStack s; std::thread t([&] { s.push(1); }); s.push(2); t.join(); int n = 0; while (auto x = s.pop()) n += x->value; assert(n == 3); }
