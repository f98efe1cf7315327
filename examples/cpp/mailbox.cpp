// One thread writes a message and then says that it is there, by relaxed accesses.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
#include <atomic>
#include <cassert>
#include <thread>

int message;
std::atomic<bool> full{false};

int main() {
    std::thread sender([] {
        message = 42;
        full.store(true, std::memory_order_relaxed);
    });
    std::thread receiver([] {
        while (!full.load(std::memory_order_relaxed)) {}
        assert(message == 42);
    });
    sender.join();
    receiver.join();
}
