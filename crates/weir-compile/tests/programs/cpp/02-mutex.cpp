#include <cassert>
#include <mutex>
#include <thread>
#include <vector>
class Account {
    mutable std::mutex m;
    int balance = 0;
public:
    void deposit(int n) { std::lock_guard<std::mutex> g(m); balance += n; }
    bool withdraw(int n) { std::unique_lock<std::mutex> g(m); if (balance < n) return false; balance -= n; return true; }
    int get() const { std::scoped_lock g(m); return balance; }
};
int main() {
    Account a;
    std::vector<std::thread> ts;
    for (int i = 0; i < 2; i++) ts.emplace_back([&a, i] { a.deposit(i + 1); });
    for (auto& t : ts) t.join();
    assert(a.get() == 3);
    assert(a.withdraw(3));
}
