// FLAGS: -std=c++17 -O2
// EXPAND: ALL
// Twins of an armed program in C++: the body of a function stands in it twice, with and without its sites.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

__attribute__((noinline)) static int work(int x) {
  for (volatile int i = 0; i < 3; i = i + 1) std::printf("%d", x + i);
  return x + 1;
}

struct Counted {
  static int copies;
  int number;
  explicit Counted(int n) : number(work(n)) {}
  Counted(const Counted& other) : number(other.number) { ++copies; }
  // ARMED: ~Counted() { VPROF_BODY_GATE({{[0-9]+}}) {
  // ARMED-NEXT: VPROF_TWIN_BEGIN
  // ARMED: VPROF_TWIN_END
  // ARMED-NEXT: } else {
  ~Counted() { work(number); work(number + 1); }
};
int Counted::copies = 0;

// ARMED: int twice(int x) { VPROF_BODY_GATE({{[0-9]+}}) {
// ARMED: VALUE({{.*}}work(x){{.*}}VPROF_VALUE_END
// ARMED: VPROF_TWIN_END
// ARMED-NEXT: } else {
// ARMED: x = work(x);
// ARMED: return work(x);
// ARMED-NEXT: }}
int twice(int x) {
  x = work(x);
  std::printf("%s at %d of %s\n", __func__, __LINE__, std::strrchr(__FILE__, 'b'));
  return work(x);
}
int on_one_line(int x) { work(x); return work(__LINE__); } int after(int x) { return work(x) + __LINE__; }

class Shape {
 public:
  explicit Shape(int n) : n_(work(n)) { work(n_); if (n_ == 3) return; work(n_ + 1); }
  virtual ~Shape() = default;
  // ARMED: virtual int area() const { VPROF_BODY_GATE(
  virtual int area() const { int a = work(n_); return work(a); }
  // ARMED: void ends() { VPROF_BODY_GATE(
  // ARMED: } else {
  void ends() { if (n_ > 2) { work(n_); return; } work(0); }
  int operator+(int x) const { x = work(x); return x + work(n_); }

 protected:
  int n_;
};
struct Square : Shape {
  using Shape::Shape;
  int area() const override { int a = work(n_); return a * work(n_); }
};

// ARMED: VPROF_BODY_GATE({{[0-9]+}}) {
// ARMED: if constexpr (sizeof(T) > 4)
template <class T>
void sized(T x) {
  if constexpr (sizeof(T) > 4) work(8);
  else work(4);
  work(static_cast<int>(x));
}

int catches(int x) {
  try {
    work(x);
    if (x > 1) throw std::runtime_error("thrown");
    return work(1);
  } catch (const std::exception& e) {
    std::printf("%s", e.what());
    return work(2);
  }
}

int varies(int n, ...) {
  va_list list;
  va_start(list, n);
  int total = work(n);
  while (n-- > 0) total += va_arg(list, int);
  va_end(list);
  return work(total);
}

[[noreturn]] void throws(int x) { work(x); throw std::logic_error(std::to_string(work(x))); }

int raw(int x) {
  std::printf("%s", R"(a " { // text
)");
  work(x);  // a comment at the end
#if 1
  return work(x /* } */);
#else
  return 0;
#endif  // the last line
}

// ARMED: { __label__ again, out;
int jumps(int x) {
again:
  x = work(x);
  if (x < 4) goto again;
  if (x == 4) goto out;
  // goto again: as a comment
  ({ __label__ inner; if (x > 5) goto inner; work(x); inner: work(x); });
out:
  return work(x);
}

// Only another compiler than Clang sees the label.
// ARMED: int jumps_elsewhere(int x) { VPROF_BODY_GATE
// ARMED: goto out_vprof_measured;
// ARMED: out_vprof_measured:
int jumps_elsewhere(int x) {
  work(x);
#ifndef __clang__
  if (x > 1) goto out;
  work(1);
out:
#else
  if (x <= 1) work(1);
#endif
  return work(x);
}
union Value { int number; void* pointer; };
// ARMED: int reads(int x) { VPROF_BODY_GATE
int reads(int x) {
  static Value start;
  static const int first = 3;
  Value value = start;
  work(first);
  return work(value.number + x);
}

#define GIVEN 2
// ARMED: int defines(int x) { VPROF_BODY_GATE
// ARMED-NEXT: #pragma push_macro("ADDED")
// ARMED-NEXT: #pragma push_macro("GIVEN")
int defines(int x) {
#if defined GIVEN && !defined ADDED
# define ADDED GIVEN + 1
  x = work(x);
  x += work(ADDED);
# undef GIVEN
#endif
#ifdef GIVEN
  x += work(100);
#endif
#define GIVEN 4
  return x + work(GIVEN);
#undef ADDED
}

// ---- What stays as it is.
// ARMED: int jumps_otherwise(int x) { VPROF_F
int jumps_otherwise(int x) {
  work(x);
#ifndef __clang__
  int out = 2;
  if (x > 1) goto out;
  work(out);
out:
#else
  if (x <= 1) work(2);
#endif
  return work(x);
}
// ARMED: int points(int x) { VPROF_F
int points(int x) { static int fixed = 1; work(x); const int* at = &fixed; return work(*at); }
// ARMED: int late(int x) { VPROF_F
int late(int x) { static int first = work(x); return work(first); }
int computed(int x) {
  void* next = x > 1 ? &&two : &&one;
  goto *next;
one:
  return work(1);
two:
  return work(2);
}
// ARMED: Counted made(int x) { VPROF_F
Counted made(int x) { Counted made(x); work(made.number); return made; }
// ARMED: auto deduced(int x) {{{.*}}VPROF_F
auto deduced(int x) { work(x); return work(x); }
// ARMED: int counts() { VPROF_F
int counts() { static int count; work(count); return ++count; }
// ARMED: int counts_in_thread() { VPROF_F
int counts_in_thread() { thread_local int count; work(count); return ++count; }
template <class F> int calls_of(F f) { static int calls; f(); return ++calls; }
// ARMED: int with_lambda(int x) { VPROF_F
int with_lambda(int x) { work(x); return calls_of([&] { work(x); }); }
// ARMED: int with_type(int x) { VPROF_F
int with_type(int x) { struct Local { int n; }; work(x); return Local{work(x)}.n; }
// ARMED: constexpr int constant(int x) {{{ return|.*VPROF_F}}
constexpr int constant(int x) { return x < 0 ? work(x) : x; }

static void show(int x) { std::printf(" %d\n", x); }

// ARMED: int numbers(int x) { VPROF_F
#define NUMBER __COUNTER__
int numbers(int x) { work(x); return work(NUMBER); }
_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-variable\"")
// ARMED: int warns(int x) { VPROF_F
int warns(int x) { work(x); int unused; _Pragma("GCC diagnostic pop") return work(x); }
template <class T> struct Registered { static int number; };
static int registered;
template <class T> int Registered<T>::number = ++registered;
// ARMED: int registers(int x) { VPROF_F
int registers(int x) { work(x); work(x); return Registered<struct OnlyNamed>::number; }

int main() {
  twice(1);
  show(on_one_line(2));
  show(after(3));
  Square square(2);
  Shape shape(1);
  const Shape* shapes[] = {&square, &shape};
  for (const Shape* s : shapes) show(s->area());
  shape.ends();
  square.ends();
  show(square + 3);
  sized('a');
  sized(5L);
  show(catches(1));
  show(catches(2));
  show(varies(2, 3, 4));
  try { throws(7); } catch (const std::logic_error& e) { std::puts(e.what()); }
  raw(5);
  for (int i = 0; i < 2; ++i) {
    show(counts());
    show(counts_in_thread());
    show(with_lambda(i));
    show(with_type(i));
    show(jumps(i));
    show(jumps_elsewhere(i + 1));
    show(computed(i + 1));
    show(reads(i));
    show(jumps_otherwise(i + 1));
    show(points(i));
    show(late(i));
    show(deduced(i));
  }
  Counted counted = made(1);
  show(counted.number);
  show(Counted::copies);
  show(constant(3));
  show(defines(1));
  show(numbers(1));
  show(warns(1));
  show(registers(1));
  show(registered);
  show(__COUNTER__);
}
