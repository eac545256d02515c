// C++20 and what C++23 makes of it: lambdas of all kinds, structured bindings, if and range-for with initialiser, constexpr, consteval and
// if constexpr, concepts, noexcept, function try blocks, default arguments, three-way comparison, placement new,
// virtual destructors, conversion, initialiser lists, fold expressions.
// FLAGS: -std=c++23
#include <array>
#include <compare>
#include <concepts>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

__attribute__((noinline)) int step(int x) {
  for (int i = 0; i < 1; ++i) {
    asm volatile("");
    ++x;
  }
  return x;
}
consteval int at_compile_time(int x) { return x * x; }
constexpr int either(int x) { return x + 1; }
__attribute__((noinline)) int never_throws(int x) noexcept { return step(x); }
__attribute__((noinline)) int with_default(int x, int y = step(40)) { return x + y; }

struct Tracked {
  static inline std::string log;
  explicit Tracked(int n) : n(step(n)) { log += '+'; }
  Tracked(const Tracked& o) : n(o.n) { log += 'c'; }
  Tracked(Tracked&& o) noexcept : n(std::exchange(o.n, 0)) { log += 'm'; }
  Tracked& operator=(const Tracked&) = default;
  virtual ~Tracked() { log += '-'; }
  virtual int value() const { return step(n); }
  auto operator<=>(const Tracked& o) const { return step(n) <=> o.n; }
  bool operator==(const Tracked& o) const { return step(n) == step(o.n); }
  operator int() const { return step(n); }
  int n;
};
struct Derived : Tracked {
  Derived(int n, int more) try : Tracked(n), more(step(more)) {
    if (more > 10) throw std::runtime_error("too much");
  } catch (const std::exception& e) {
    std::printf("caught %s %d\n", e.what(), step(1));
  }
  int value() const override { return Tracked::value() + step(more); }
  int more;
};

// A prvalue that is returned is elided, whatever is measured around it.
__attribute__((noinline)) Tracked make(int n) { return Tracked(step(n)); }
__attribute__((noinline)) std::tuple<int, std::string> pair_of(int n) { return {step(n), std::to_string(step(n))}; }

template <class T>
concept Countable = requires(T t) { { step(static_cast<int>(t)) } -> std::same_as<int>; };
template <Countable T>
int counted(T t) {
  if constexpr (sizeof(T) > 4)
    return step(static_cast<int>(t)) * 2;
  else
    return step(static_cast<int>(t));
}
template <class... Ts>
int folded(Ts... ts) {
  return (step(ts) + ... + 0);
}
template <class F>
decltype(auto) call(F&& f) {
  return std::forward<F>(f)(step(1));
}

int run(int n) {
  int x = 0;
  if (auto [number, text] = pair_of(n); number > step(0)) x += number + static_cast<int>(text.size());
  for (std::map<int, std::string> all{{1, "a"}, {2, "b"}}; auto& [key, value] : all) x += step(key) + value[0];
  auto adder = [n, y = step(n)](auto z) mutable -> int { return step(n + y++ + z); };
  x += adder(1) + adder(2L) + call([&](int z) -> int& { x += step(z); return x; });
  std::function<int(int)> recursive = [&](int z) { return z <= 0 ? 0 : step(z) + recursive(z - 1); };
  x += recursive(5) + at_compile_time(3) + either(step(2)) + never_throws(1) + with_default(1);
  const Tracked kept = make(2);
  const Tracked& bound = make(3);
  x += kept.value() + bound.value() + (kept < bound) + (make(4) == make(4)) + static_cast<int>(make(5));
  try {
    Derived good(1, step(2));
    x += good.value();
    Derived bad(1, step(20));
  } catch (const std::exception& e) {
    std::printf("again %s\n", e.what());
  }
  alignas(Tracked) unsigned char room[sizeof(Tracked)];
  auto* placed = new (room) Tracked(step(6));
  std::unique_ptr<Tracked> owned = std::make_unique<Derived>(step(1), 2);
  x += placed->value() + owned->value();
  placed->~Tracked();
  std::optional<int> maybe = step(1) > 0 ? std::optional(step(7)) : std::nullopt;
  std::variant<int, std::string> either_of = std::to_string(step(8));
  x += maybe.value_or(step(9)) + std::visit([](auto& v) { return step(static_cast<int>(sizeof v) > 0); }, either_of);
  x += counted(1) + counted(2L) + folded(1, 2, 3) + std::array{step(1), step(2)}[1];
  x += std::string_view(std::to_string(step(5)) + "!").size() > 0;
  static const std::vector<Tracked> once{Tracked(1), make(2)};
  return x + once[1].value();
}

int main() {
  std::printf("%d %d\n", run(1), run(2));
  std::printf("%s\n", Tracked::log.c_str());
}
// EXPAND: EVERYTHING
