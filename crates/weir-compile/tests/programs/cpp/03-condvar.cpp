#include <cassert>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
template <class T> class BlockingQueue {
    std::mutex m; std::condition_variable cv; std::queue<T> q;
public:
    void push(T v) { { std::lock_guard<std::mutex> l(m); q.push(std::move(v)); } cv.notify_one(); }
    T pop() { std::unique_lock<std::mutex> l(m); cv.wait(l, [this] { return !q.empty(); }); T v = std::move(q.front()); q.pop(); return v; }
};
int main() {
    BlockingQueue<int> q;
    std::thread t([&] { q.push(1); q.push(2); });
    assert(q.pop() == 1);
    assert(q.pop() == 2);
    t.join();
}
