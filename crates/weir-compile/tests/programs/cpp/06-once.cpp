#include <cassert>
#include <mutex>
#include <thread>
struct Config { int v = 42; };
Config& instance() { static Config c; return c; }
std::once_flag flag; int inits = 0;
void init() { std::call_once(flag, [] { ++inits; }); }
int main() { std::thread a([] { init(); assert(instance().v == 42); }); std::thread b([] { init(); instance(); }); a.join(); b.join(); assert(inits == 1); }
