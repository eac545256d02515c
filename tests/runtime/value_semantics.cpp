// An instrumented C++ expression keeps its meaning: type, value category, identity, lifetime of
// temporaries, elision. Both compilers compile this in every standard from C++11 on; the sanitizer
// presets run it as well. The exit code is the line that failed.
#include <vprof/runtime/scope.h>

#include <stdexcept>
#include <string>
#include <utility>

#define CHECK(condition) \
  if (!(condition)) return __LINE__

// The instrumented forms of an expression, in slot 0.
#define VALUE(expression) VPROF_VALUE(0, 1) expression VPROF_VALUE_END(0)
#define GUARD(expression) VPROF_GUARD(2) expression VPROF_GUARD_END

template <class A, class B>
struct same {
  static const bool value = false;
};
template <class A>
struct same<A, A> {
  static const bool value = true;
};
#define SAME_TYPE(...) static_assert(same<__VA_ARGS__>::value, "")

namespace {

struct Object {
  int x = 1;
  template <class T>
  void operator,(T&&) const = delete;  // must never be found
};
enum class Color { kRed, kBlue };
union Either {
  int i;
  float f;
};

int global = 7;
const int constant = 8;
Object object;
const Object const_object{};
int array[3] = {1, 2, 3};
Either either = {3};

int& lvalue() { return global; }
const int& const_lvalue() { return constant; }
int prvalue() { return 9; }
const Object& const_object_lvalue() { return const_object; }
Object& object_lvalue() { return object; }
Object&& object_xvalue() { return std::move(object); }
const Object&& const_object_xvalue() { return std::move(const_object); }
int (&array_lvalue())[3] { return array; }
int (&&array_xvalue())[3] { return std::move(array); }
int (&function_lvalue())() { return prvalue; }
int* pointer() { return &global; }
Color color() { return Color::kBlue; }
int Object::* member() { return &Object::x; }
std::nullptr_t null() { return nullptr; }
Either& union_lvalue() { return either; }
volatile int& volatile_lvalue() {
  static volatile int v = 5;
  return v;
}
bool yes() { return true; }
void nothing(int& count) { ++count; }

// Instrumented calls keep their types, scalar prvalues included.
void types() {
  VPROF_FRAME_N(1);
  SAME_TYPE(decltype(VALUE(lvalue())), int&);
  SAME_TYPE(decltype(VALUE(const_lvalue())), const int&);
  SAME_TYPE(decltype(VALUE(prvalue())), int);
  SAME_TYPE(decltype(VALUE(object_lvalue())), Object&);
  SAME_TYPE(decltype(VALUE(const_object_lvalue())), const Object&);
  SAME_TYPE(decltype(VALUE(object_xvalue())), Object&&);
  SAME_TYPE(decltype(VALUE(const_object_xvalue())), const Object&&);
  SAME_TYPE(decltype(VALUE(array_lvalue())), int(&)[3]);
  SAME_TYPE(decltype(VALUE(array_xvalue())), int(&&)[3]);
  SAME_TYPE(decltype(VALUE(function_lvalue())), int (&)());
  SAME_TYPE(decltype(VALUE(pointer())), int*);
  SAME_TYPE(decltype(VALUE(color())), Color);
  SAME_TYPE(decltype(VALUE(member())), int Object::*);
  SAME_TYPE(decltype(VALUE(null())), std::nullptr_t);
  SAME_TYPE(decltype(VALUE(union_lvalue())), Either&);
  SAME_TYPE(decltype(VALUE(volatile_lvalue())), volatile int&);
  SAME_TYPE(decltype(VPROF_VOID(0, 1) nothing(global) VPROF_VOID_END(0, 1)), void);
  SAME_TYPE(decltype(GUARD(prvalue())), int);
  SAME_TYPE(decltype(GUARD(lvalue())), int&);
  SAME_TYPE(decltype(GUARD(object_xvalue())), Object&&);
}

int identity() {
  VPROF_FUNCTION_N(3, 1);
  types();
  CHECK(&VALUE(lvalue()) == &global);
  CHECK(&VALUE(const_lvalue()) == &constant);
  CHECK(&VALUE(array_lvalue()) == &array);
  CHECK(&VALUE(object_lvalue()) == &object);
  Object&& moved = VALUE(object_xvalue());
  CHECK(&moved == &object);
  VALUE(lvalue()) = 17;
  CHECK(global == 17);
  CHECK(VALUE(prvalue()) == 9);
  const int& extended = VALUE(prvalue());  // must be a temporary that lives on
  CHECK(extended == 9);
  CHECK(VALUE(function_lvalue())() == 9);
  CHECK(object.*VALUE(member()) == 1);
  int count = 0;
  VPROF_VOID(0, 1) nothing(count) VPROF_VOID_END(0, 1);
  CHECK(count == 1);
  if (VALUE(yes())) {
    count += 1;
  }
  while (!VALUE(yes())) {
    count += 100;
  }
  CHECK((VALUE(yes()) ? count : 0) == 2);
  return 0;
}

// A temporary in an argument lives until the end of the full expression, beyond the call's return.
const std::string& pass_on(const std::string& s) { return s; }
const char* text_of(const std::string& s) { return s.c_str(); }
size_t length_of(const char* s) { return std::string(s).size(); }
std::string make_text() { return std::string(100, 'x'); }

int lifetimes() {
  VPROF_FUNCTION_N(4, 3);
  CHECK(length_of(VPROF_VALUE(0, 5) text_of(std::string(100, 'x')) VPROF_VALUE_END(0)) == 100);
  CHECK(length_of((VPROF_VALUE(0, 5) pass_on(std::string(100, 'x')) VPROF_VALUE_END(0)).c_str()) ==
        100);
  CHECK((VPROF_VALUE(0, 5) length_of(VPROF_VALUE(1, 6) text_of(pass_on(std::string(100, 'x')))
                                         VPROF_VALUE_END(1)) VPROF_VALUE_END(0)) == 100);
  const std::string& extended = GUARD(make_text());
  CHECK(extended.size() == 100);
  std::string moved =
      VPROF_VALUE(0, 5) std::move(const_cast<std::string&>(extended)) VPROF_VALUE_END(0);
  CHECK(moved.size() == 100);
  return 0;
}

#if __cplusplus >= 201703L
struct Fixed {  // cannot be moved: only guaranteed elision can return it
  explicit Fixed(int v) : value(v), self(this) {}
  Fixed(const Fixed&) = delete;
  Fixed& operator=(const Fixed&) = delete;
  int value;
  Fixed* self;
};
Fixed make_fixed() { return Fixed(3); }
Fixed wrapped_return() { return GUARD(make_fixed()); }

int elision() {
  Fixed fixed = GUARD(make_fixed());
  CHECK(fixed.self == &fixed && fixed.value == 3);
  Fixed returned = wrapped_return();
  CHECK(returned.self == &returned);
  return 0;
}
#else
int elision() { return 0; }
#endif

int thrower() { throw std::runtime_error("x"); }
int exceptions() {
  VPROF_FUNCTION_N(7, 2);
  for (int i = 0; i < 3; ++i) {
    try {
      return VPROF_VALUE(0, 8) thrower() VPROF_VALUE_END(0);
    } catch (const std::runtime_error&) {
    }
    try {
      GUARD(thrower());
    } catch (const std::runtime_error&) {
    }
  }
  return 0;
}

// A lambda has a frame of its own.
int nested_functions() {
  VPROF_FUNCTION_N(9, 1);
  const auto lambda = [] {
    VPROF_FUNCTION_N(10, 1);
    return VPROF_VALUE(0, 11) prvalue() VPROF_VALUE_END(0);
  };
  return VPROF_VALUE(0, 12) lambda() VPROF_VALUE_END(0) == 9 ? 0 : __LINE__;
}

template <class T>
T in_template(T x) {
  VPROF_FUNCTION_N(13, 1);
  return VPROF_VALUE(0, 14) static_cast<T (*)(T)>([](T y) { return y; })(x) VPROF_VALUE_END(0);
}

}  // namespace

int main() {
  for (int (*test)() : {identity, lifetimes, elision, exceptions, nested_functions}) {
    const int line = test();
    if (line != 0) {
      return line % 256 == 0 ? 1 : line % 256;
    }
  }
  return in_template(5) == 5 ? 0 : 1;
}
