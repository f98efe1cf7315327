//! C++ with `std::thread`, `std::atomic` and `std::mutex`, as clang emits it.

use weir::{MemoryModel, Verdict};

use super::compiled::{compile, first_of};
use crate::read;

/// What all programs include.
const INCLUDED: &str = "#include <atomic>\n#include <cassert>\n#include <memory>\n#include <mutex>\n#include <optional>\n#include <thread>\n#include <vector>\n";

/// Programs with their answers under SC and TSO.
const PROGRAMS: [(&str, &str, Verdict, Verdict); 10] = [
    (
        "Treiber's stack",
        "template<class T> class stack {\n  struct node { T value; node *next; };\n  std::atomic<node *> head{nullptr};\npublic:\n\
           void push(T v) { node *n = new node{v, head.load(std::memory_order_relaxed)};\n\
             while (!head.compare_exchange_weak(n->next, n, std::memory_order_release, std::memory_order_relaxed)); }\n\
           bool pop(T &out) { node *n = head.load(std::memory_order_acquire);\n\
             while (n && !head.compare_exchange_weak(n, n->next, std::memory_order_acquire));\n\
             if (!n) return false; out = n->value; return true; }\n};\n\
         stack<int> s;\n\
         int main() { std::thread a([] { s.push(1); }), b([] { s.push(2); }); int sum = 0, x; if (s.pop(x)) sum += x;\n\
           a.join(); b.join(); while (s.pop(x)) sum += x; assert(sum == 3); }",
        Verdict::Holds,
        Verdict::Holds,
    ),
    (
        "store buffering in a vector of threads",
        "std::atomic<int> x{0}, y{0}; int r1, r2;\n\
         int main() { std::vector<std::thread> all;\n\
           all.emplace_back([] { x.store(1, std::memory_order_relaxed); r1 = y.load(std::memory_order_relaxed); });\n\
           all.emplace_back([] { y.store(1, std::memory_order_relaxed); r2 = x.load(std::memory_order_relaxed); });\n\
           for (auto &t : all) t.join(); assert(r1 == 1 || r2 == 1); }",
        Verdict::Holds,
        Verdict::Violated,
    ),
    (
        "an account with a mutex",
        "struct account { std::mutex m; int n = 0; void add(int d) { std::lock_guard<std::mutex> g(m); n += d; } };\n\
         int main() { account a; auto work = [&a](int d) { for (int i = 0; i < 2; i++) a.add(d); };\n\
           std::thread s(work, 1), t(work, 2); s.join(); t.join(); assert(a.n == 6); }",
        Verdict::Holds,
        Verdict::Holds,
    ),
    (
        "an account without a mutex",
        "struct account { int n = 0; void add(int d) { n += d; } };\n\
         int main() { account a; auto work = [&a](int d) { a.add(d); };\n\
           std::thread s(work, 1), t(work, 2); s.join(); t.join(); assert(a.n == 3); }",
        Verdict::Violated,
        Verdict::Violated,
    ),
    (
        "Dekker's lock",
        "class dekker { std::atomic<bool> wants[2]{}; std::atomic<int> turn{0};\npublic:\n\
           void lock(int me) { wants[me] = true; while (wants[1 - me]) { if (turn != me) { wants[me] = false; while (turn != me) std::this_thread::yield(); wants[me] = true; } } }\n\
           void unlock(int me) { turn = 1 - me; wants[me] = false; } };\n\
         dekker d; int inside;\n\
         void work(int me) { d.lock(me); inside++; assert(inside == 1); inside--; d.unlock(me); }\n\
         int main() { std::thread a(work, 0), b(work, 1); a.join(); b.join(); }",
        Verdict::Holds,
        Verdict::Holds,
    ),
    (
        "a spin lock as a class that is locked by its scope",
        "class spin { std::atomic_flag f = ATOMIC_FLAG_INIT;\npublic:\n  void lock() { while (f.test_and_set(std::memory_order_acquire)); }\n\
           void unlock() { f.clear(std::memory_order_release); } };\n\
         spin l; int n;\n\
         int main() { auto work = [] { std::lock_guard<spin> g(l); n = n + 1; }; std::thread a(work), b(work); a.join(); b.join(); assert(n == 2); }",
        Verdict::Holds,
        Verdict::Holds,
    ),
    (
        "a single-producer queue",
        "template<class T, unsigned N> class ring { T slots[N]; std::atomic<unsigned> head{0}, tail{0};\npublic:\n\
           bool push(T v) { unsigned t = tail.load(std::memory_order_relaxed); if (t - head.load(std::memory_order_acquire) == N) return false;\n\
             slots[t % N] = v; tail.store(t + 1, std::memory_order_release); return true; }\n\
           std::optional<T> pop() { unsigned h = head.load(std::memory_order_relaxed); if (h == tail.load(std::memory_order_acquire)) return {};\n\
             T v = slots[h % N]; head.store(h + 1, std::memory_order_release); return v; } };\n\
         ring<int, 2> q;\n\
         int main() { std::thread a([] { for (int i = 1; i <= 3; i++) while (!q.push(i)); });\n\
           for (int next = 1; next <= 3;) if (auto v = q.pop()) assert(*v == next++); a.join(); }",
        Verdict::Holds,
        Verdict::Holds,
    ),
    (
        "virtual functions and unique pointers",
        "struct shape { virtual ~shape() = default; virtual int area() const = 0; };\n\
         struct square : shape { int a; square(int a) : a(a) {} int area() const override { return a * a; } };\n\
         struct strip : shape { int area() const override { return 3; } };\n\
         std::atomic<int> which{0};\n\
         int main() { std::thread t([] { which = 1; }); std::unique_ptr<shape> all[2] = {std::make_unique<square>(2), std::make_unique<strip>()};\n\
           int i = which; int area = all[i]->area(); t.join(); assert(area == (i ? 3 : 4)); }",
        Verdict::Holds,
        Verdict::Holds,
    ),
    (
        "a variable that is initialized once",
        "struct counter { std::atomic<int> n{40}; int next() { return ++n; } };\n\
         counter &the() { static counter c; return c; }\n\
         int main() { int r = 0; std::thread a([&r] { r = the().next(); }); int s = the().next(); a.join(); assert(r + s == 83 && r != s); }",
        Verdict::Holds,
        Verdict::Holds,
    ),
    (
        "memory that is freed too early",
        "std::atomic<int *> p{nullptr};\n\
         int main() { p = new int(1); std::thread a([] { int *q = p.exchange(nullptr); if (q) delete q; });\n\
           int *q = p; int v = q ? *q : 1; a.join(); assert(v == 1); }",
        Verdict::Violated,
        Verdict::Violated,
    ),
];

#[test]
fn programs_in_cpp_have_their_answers() {
    let Some(clang) = first_of(&["clang++-19", "clang++"]) else { return };
    for level in ["-O0", "-O1"] {
        for (name, text, sc, tso) in PROGRAMS {
            let flags = [
                "-std=c++20",
                "-fno-exceptions",
                "-g",
                level,
                "-Xclang",
                "-disable-O0-optnone",
                "-S",
                "-emit-llvm",
            ];
            let module = compile(clang, &flags, "cpp", &format!("{INCLUDED}{text}\n"));
            for (model, answer) in [(MemoryModel::SC, sc), (MemoryModel::TSO, tso)] {
                assert_eq!(
                    read::verdict("test.ll", &module, model),
                    answer,
                    "{name}, {level}, {model}"
                );
            }
        }
    }
}
