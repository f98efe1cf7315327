// A pointer that counts its references: who drops the last one frees the object.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
#include <atomic>
#include <cassert>
#include <thread>
#include <utility>

#ifndef DROP
#define DROP(count) count.fetch_sub(1, std::memory_order_acq_rel)
#endif

template <typename T>
class Shared {
    struct Object {
        std::atomic<int> references{1};
        T data;
        explicit Object(T data) : data(std::move(data)) {}
    };

public:
    explicit Shared(T data) : object(new Object(std::move(data))) {}
    Shared(const Shared &other) : object(other.object) { object->references.fetch_add(1, std::memory_order_relaxed); }
    Shared(Shared &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
    Shared &operator=(Shared) = delete;
    ~Shared() {
        if (object && DROP(object->references) == 1) delete object;
    }

    const T &operator*() const { return object->data; }

private:
    Object *object;
};

int main() {
    Shared<int> mine(7);
    std::thread other([yours = mine] { assert(*yours == 7); });
    assert(*mine == 7);
    {
        Shared<int> last(std::move(mine));
    }
    other.join();
}
