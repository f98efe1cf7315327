#include <cassert>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
class Registry { mutable std::shared_mutex m; std::map<int, int> values;
public: void set(int k, int v) { std::unique_lock l(m); values[k] = v; } int get(int k) const { std::shared_lock l(m); auto it = values.find(k); return it == values.end() ? -1 : it->second; } };
int main() { Registry r; std::thread t([&] { r.set(1, 5); }); int v = r.get(1); t.join(); assert(v == -1 || v == 5); assert(r.get(1) == 5); }
