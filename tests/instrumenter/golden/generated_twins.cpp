// FLAGS: -std=c++17
// EXPAND: ALL
// Twins of functions that say themselves which lines of which file they are, as those of parser generators do.
#include <cstdio>

__attribute__((noinline)) static int work(int x) {
  for (volatile int i = 0; i < 3; i = i + 1) std::printf("%d", x + i);
  return x + 1;
}
static void here(const char* file, int line) { std::printf(" %s:%d\n", file, line); }

// Nothing before it says which file this is, so nothing can after it.
// ARMED: int first(int x) { VPROF_F
int first(int x) {
  work(x);
#line 7 "actions.y"
  here(__FILE__, __LINE__);
  return work(x);
}
#line 100 "parser.cc"
// ARMED: int parse(int state) { VPROF_BODY_GATE
// ARMED: #line 102 "parser.cc"
// ARMED: #line 102 "parser.cc"
int parse(int state) {
  here(__FILE__, __LINE__);
  switch (state) {
    case 1:
#line 20 "actions.y"
      { state = work(state); here(__FILE__, __LINE__); }
#line 107 "parser.cc"
      break;
    default:
      goto failed;
  }
  here(__FILE__, __LINE__);
  return work(state);
failed:
  return -work(state);
}
int last() { work(1); here(__FILE__, __LINE__); return work(1); }

int main() {
  first(1);
  for (int i = 0; i < 3; ++i) std::printf(" %d\n", parse(i));
  last();
}
