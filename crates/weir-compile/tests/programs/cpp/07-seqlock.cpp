#include <array>
#include <atomic>
#include <cassert>
#include <functional>
#include <thread>
template <class T, std::size_t N> class Seqlock { std::atomic<unsigned> seq{0}; std::array<std::atomic<T>, N> data{};
public: void write(T v) { auto s = seq.load(std::memory_order_relaxed); seq.store(s + 1, std::memory_order_relaxed); std::atomic_thread_fence(std::memory_order_release);
  for (auto& d : data) d.store(v, std::memory_order_relaxed); seq.store(s + 2, std::memory_order_release); }
 bool read(std::array<T, N>& out) { auto s = seq.load(std::memory_order_acquire); if (s & 1) return false; for (std::size_t i = 0; i < N; i++) out[i] = data[i].load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire); return seq.load(std::memory_order_relaxed) == s; } };
int main() { Seqlock<int, 2> l; std::thread w([&] { l.write(1); }); std::thread r(std::bind([](Seqlock<int, 2>& l) { std::array<int, 2> a; if (l.read(a)) assert(a[0] == a[1]); }, std::ref(l))); w.join(); r.join(); }
