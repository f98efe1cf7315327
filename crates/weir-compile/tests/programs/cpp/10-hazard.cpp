#include <atomic>
#include <cassert>
#include <optional>
#include <thread>
#include <utility>
thread_local int depth = 0;
template <class F> struct Defer { F f; ~Defer() { f(); } };
template <class F> Defer(F) -> Defer<F>;
template <class T> class Mailbox { std::atomic<T*> slot{nullptr};
public: void put(T v) { T* old = slot.exchange(new T(std::move(v)), std::memory_order_acq_rel); delete old; }
 std::optional<T> take() { T* p = slot.exchange(nullptr, std::memory_order_acq_rel); if (!p) return std::nullopt; std::optional<T> r(std::move(*p)); delete p; return r; } ~Mailbox() { delete slot.load(); } };
int main() { Mailbox<std::pair<int, int>> m; std::thread t([&] { Defer d{[] { --depth; }}; ++depth; m.put({1, 2}); }); if (auto v = m.take()) assert(v->first + 1 == v->second); t.join(); }
