// Publication as read-copy-update does it: a writer fills a new version and then publishes the pointer to it; a reader follows
// the pointer and sees one version as a whole.
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

struct Version {
    int left = 0, right = 0;
};

template <typename T>
class Published {
public:
    explicit Published(T *first) : current(first) {}
    void publish(T *next) { current.store(next, PUBLISH); }
    const T *read() const { return current.load(std::memory_order_acquire); }

private:
    std::atomic<T *> current;
};

Version first{1, 1}, second;
Published<Version> published(&first);

int main() {
    std::thread writer([] {
        second.left = 2;
        second.right = 2;
        published.publish(&second);
    });
    std::thread reader([] {
        const auto [left, right] = *published.read();
        assert(left == right && left != 0);
    });
    writer.join();
    reader.join();
}
