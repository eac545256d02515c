// Nothing may follow a call that must become a jump.
// COMPILERS: clang
// FLAGS: -std=c++20 -O1
// UNWRAPPED: in a function that cannot be instrumented: its tail call is guaranteed (musttail)
#include <cstdio>
#include <string>

struct Machine {
  std::string text;

  // CHECK: int st{{ep}}(int left) {
  // CHECK-NEXT: text = na{{me}}(left);
  int step(int left) {
    text = name(left);
    ++steps;
    if (left == 0) {
      return end(left);
    }
    [[clang::musttail]] return step(left - 1);
  }

  int end(int left) {
    for (int i = 0; i < 3; ++i) {
      left += static_cast<int>(text.size());
    }
    return left;
  }

  static std::string name(int left) {
    std::string all;
    for (int i = 0; i < left % 3; ++i) {
      all += "ab";
    }
    return all;
  }

  int steps = 0;
};

template <class T>
T end(T a, T b) {
  for (T i = 0; i < b; ++i) {
    a += i;
  }
  return a;
}

template <class T>
T down(T a, T b) {
  if (a <= 0) {
    [[clang::musttail]] return end<T>(a, b);
  }
  [[clang::musttail]] return down<T>(a - 1, end<T>(b, 1));
}

int main() {
  Machine machine;
  std::printf("%d %d\n", machine.step(1000), machine.steps);
  std::printf("%d %ld\n", down(100, 1), down(100L, 2L));
}
