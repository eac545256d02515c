// Clang cannot follow the value of a measured call back to the lock that it took, so what it then says about locks is not
// said of the instrumented text.
// COMPILERS: clang
// FLAGS: -std=c++17 -Wthread-safety
#include <cstdio>

class __attribute__((capability("mutex"))) Lock {
 public:
  bool try_lock() __attribute__((try_acquire_capability(true))) {
    for (int i = 0; i < 3; ++i) {
      ++tries_;
    }
    taken_ = !taken_;
    return taken_;
  }
  void unlock() __attribute__((release_capability())) {
    for (int i = 0; i < 3; ++i) {
      --tries_;
    }
    taken_ = false;
  }

 private:
  int tries_ = 0;
  bool taken_ = false;
};

Lock lock;
int guarded __attribute__((guarded_by(lock))) = 0;

int add(int more) {
  // CHECK: if (VPROF_{{.*}}lock.try_lock()
  if (lock.try_lock()) {
    guarded += more;
    const int now = guarded;
    lock.unlock();
    return now;
  }
  return -1;
}

bool both() {
  const bool taken = lock.try_lock();
  if (taken) {
    ++guarded;
    lock.unlock();
  }
  return taken;
}

int main() {
  std::printf("%d %d\n", add(3), add(4));
  std::printf("%d\n", both());
}
