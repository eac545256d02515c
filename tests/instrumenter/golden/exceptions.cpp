// Sites left by exceptions are closed by their function; function try blocks, constructors,
// destructors, noexcept.
// FLAGS: -std=c++17
#include <cstdio>
#include <stdexcept>

__attribute__((noinline)) int risky(int n) {
  for (volatile int i = 0; i < 1; ++i) {
  }
  if (n == 3) throw std::runtime_error("three");
  return n;
}

struct Holder {
  Holder(int n);
  ~Holder() noexcept;
  int value;
};

Holder::Holder(int n) try : value(risky(n)) {
  value += risky(n - 1);
} catch (const std::exception& e) {
  std::printf("holder: %s %d\n", e.what(), risky(1));
  throw;
}

Holder::~Holder() noexcept {
  int x = risky(1);
  std::printf("gone %d\n", x);
}

int attempt(int n) {
  try {
    Holder holder(n);
    int x = risky(n) + risky(holder.value);
    return x;
  } catch (const std::runtime_error& e) {
    std::printf("caught %s\n", e.what());
    return risky(0) - 1;
  }
}

int main() {
  for (int n = 0; n < 5; ++n) std::printf("%d\n", attempt(n));
  return 0;
}
// UNWRAPPED: in the handler of a function try block
