// Methods, operators, templates, lambdas, virtual calls, structured bindings, range for, static
// locals, constexpr.
// FLAGS: -std=c++17
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shop {
namespace {

constexpr int square(int x) {
  int s = 0;
  for (int i = 0; i < x; ++i) s += x;
  return s;
}
static_assert(square(3) == 9);

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};
struct Box : Shape {
  explicit Box(int side) : side_(side) {}
  int area() const override {
    int s = 0;
    for (int i = 0; i < side_; ++i) s += side_;
    return s;
  }
  int side_;
};

struct Money {
  int cents = 0;
  Money operator+(const Money& o) const {
    Money m;
    for (volatile int i = 0; i < 1; ++i) {
    }
    m.cents = cents + o.cents;
    return m;
  }
  Money& operator+=(const Money& o) {
    for (volatile int i = 0; i < 1; ++i) {
    }
    cents += o.cents;
    return *this;
  }
  explicit operator bool() const { return cents != 0; }
};

template <class T>
T largest(const std::vector<T>& all) {
  T best{};
  for (const T& one : all) best = std::max(best, one);
  return best;
}

template <class Key>
class Table {
 public:
  void put(const Key& key, int n) { map_[key] += n; }
  int get(const Key& key) const {
    const auto it = map_.find(key);
    return it == map_.end() ? 0 : it->second;
  }
  const std::map<Key, int>& all() const { return map_; }

 private:
  std::map<Key, int> map_;
};

int next_id() {
  static int first = square(4) + largest(std::vector<int>{1, 2});
  return ++first;
}

int run() {
  std::unique_ptr<Shape> shape = std::make_unique<Box>(3);
  // CHECK: int x = VPROF_VALUE({{[0-9]+}},{{[0-9]+}}) shape->area() VPROF_VALUE_END({{[0-9]+}});
  int x = shape->area();
  constexpr int kNine = square(3);
  Table<std::string> table;
  // CHECK: { VPROF_CALL({{[0-9]+}}, {{[0-9]+}}); table.put("a", x); }
  table.put("a", x);
  table.put("b", kNine);
  Money m{5};
  m += Money{3} + m;
  if (m) x += m.cents;
  auto add = [&x](int n) {
    x += largest(std::vector<int>{n, 1});
    return next_id();
  };
  x += add(2) + add(3);
  for (const auto& [key, n] : table.all()) x += n + table.get(key);
  std::vector<int> v{3, 1, 2};
  std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
  for (int n : v) x = x * 2 + n;
  return x;
}

}  // namespace
}  // namespace shop

int main() {
  std::printf("%d\n", shop::run());
  return 0;
}
// EXPAND: ALL
