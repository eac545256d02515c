// FLAGS: -std=c++17
// EXPAND: ALL
// Several functions of one name on one line, of which the first one stands for all; and braces that are digraphs.
#include <cstdio>

__attribute__((noinline)) static int work(int x) {
  for (volatile int i = 0; i < 3; i = i + 1) std::printf("%d", x + i);
  return x + 1;
}

// CHECK: int k(int x) { VPROF_F{{.*}} int k(long x) { work(1); return work(static_cast<int>(x)); }
int k(int x) { work(x); return work(x); } int k(long x) { work(1); return work(static_cast<int>(x)); }
struct Held {
  int get() & { work(1); return work(n); } int get() && { work(2); return work(n); }
  int n;
};
// CHECK: int digraphs(int x) <% VPROF_F
int digraphs(int x) <% work(x); return work(x); %>

// UNWRAPPED: constexpr
// CHECK: constexpr int checked(int x) { if (x > 100) work(x); return x; }
constexpr int checked(int x) { if (x > 100) work(x); return x; }
static_assert(checked(3) == 3);

int main() {
  k(1);
  k(2L);
  Held held{3};
  held.get();
  Held{4}.get();
  std::printf(" %d\n", digraphs(5));
  std::printf(" %d\n", checked(101));
}
