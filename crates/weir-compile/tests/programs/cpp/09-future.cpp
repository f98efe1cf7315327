#include <atomic>
#include <cassert>
#include <exception>
#include <stdexcept>
#include <thread>
class SpinLock { std::atomic_flag f = ATOMIC_FLAG_INIT; public: void lock() { while (f.test_and_set(std::memory_order_acquire)) ; } void unlock() { f.clear(std::memory_order_release); } };
int checked(int v) { if (v < 0) throw std::invalid_argument("negative"); return v; }
int main() { SpinLock l; int n = 0; auto work = [&] { l.lock(); try { n = checked(n) + 1; } catch (const std::exception&) { n = -1; } l.unlock(); }; std::thread a(work), b(work); a.join(); b.join(); assert(n == 2); }
