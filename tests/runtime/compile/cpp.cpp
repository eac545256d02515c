#include <vprof/runtime/scope.h>
#line 1
// What the instrumenter makes of a C++ file, from C++98 on.
#define _GNU_SOURCE 1
#include <cstddef>
#include <string>

#define id 1
#define start 2
#define key 3
#define unused 4
#define BEGIN 6
#define END 7

struct item {
  int number;
  std::string name;
  unsigned char* bytes;
  char array[8];
};

int plain(int x);
int plain(int x) {
  VPROF_FUNCTION(1);
  return x + 1;
}

int& same_place(int& x);
int& same_place(int& x) {
  VPROF_FUNCTION(2);
  return x;
}

void no_value(const item* it, long number);
void no_value(const item* it, long number) {
  VPROF_EXIT_EVENT(SWITCH, 1, number);
  VPROF_EXIT_EVENT(END, 1, it);
  VPROF_ENTRY_EVENT(SWITCH, 2, it->number);
  VPROF_ENTRY_LABEL(0, it, it->name);
  VPROF_ENTRY_LABEL_CURRENT(1, it->bytes);
  VPROF_ENTRY_LABEL(2, it, it->number);
  VPROF_ENTRY_LABEL_CURRENT(3, number);
  VPROF_ENTRY_LABEL_CURRENT(4, it->array);
  VPROF_ENTRY_LABEL_CURRENT(5, "x");
  VPROF_RELEASE(0, it);
  VPROF_ENQUEUE(1, it);
  VPROF_ENTRY_DEQUEUE(3, it);
  VPROF_FUNCTION(3);
  VPROF_EVENT(BEGIN, 0, it);
  VPROF_DEQUEUE(2, it);
}

std::string text();
std::string text() {
  VPROF_FUNCTION(4);
  return "x";
}

int all(int x);
int all(int x) {
  VPROF_INTERVAL(0);
  VPROF_ACQUIRE(1, &x);
  VPROF_EXIT_EVENT(END, 0, x);
  VPROF_ENTRY_EVENT(BEGIN, 0, x);
  VPROF_FUNCTION_N(5, 4);
  item it = {1, "x", NULL, ""};
  {
    VPROF_SITE(6);
    plain(x);
  }
  int y =
      VPROF_VALUE(0, 7) plain(x) VPROF_VALUE_END(0) + VPROF_VALUE(1, 8) plain(x) VPROF_VALUE_END(1);
  VPROF_VALUE(2, 9) same_place(y) VPROF_VALUE_END(2) = 4;
  VPROF_VOID(3, 10) no_value(&it, 1) VPROF_VOID_END(3, 10);
  std::string s = VPROF_GUARD(11) text() VPROF_GUARD_END;
  return VPROF_VALUE(0, 12) same_place(y) VPROF_VALUE_END(0) + static_cast<int>(s.size());
}

class Holder {
 public:
  explicit Holder(int x) : x_(x) { VPROF_FUNCTION(13); }
  ~Holder() {
    VPROF_FUNCTION_N(14, 1);
    VPROF_VALUE(0, 15) plain(x_) VPROF_VALUE_END(0);
  }
  int get() const {
    VPROF_FUNCTION(16);
    return x_;
  }

 private:
  int x_;
};

template <class T>
T twice(T x) {
  VPROF_FUNCTION_N(17, 70);
  return VPROF_VALUE(69, 18) plain(x) VPROF_VALUE_END(69) * 2;
}
int use_template();
int use_template() { return twice(3) + Holder(1).get(); }

#if __cplusplus >= 201103L
int lambdas(int x);
int lambdas(int x) {
  VPROF_FUNCTION_N(19, 1);
  const auto f = [](int y) {
    VPROF_FUNCTION_N(20, 1);
    return VPROF_VALUE(0, 21) plain(y) VPROF_VALUE_END(0);
  };
  return VPROF_VALUE(0, 22) f(x) VPROF_VALUE_END(0);
}
#endif
