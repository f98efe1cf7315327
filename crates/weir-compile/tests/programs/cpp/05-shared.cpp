#include <cassert>
#include <memory>
#include <thread>
struct Base { virtual ~Base() = default; virtual int f() const = 0; };
struct A : Base { int x; explicit A(int x) : x(x) {} int f() const override { return x; } };
int main() { std::shared_ptr<Base> p = std::make_shared<A>(7); int r = 0; std::thread t([p, &r] { r = p->f(); }); t.join(); assert(r == 7); assert(p.use_count() == 1); }
