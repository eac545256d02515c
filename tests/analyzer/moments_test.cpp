#include "statistics/moments.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace vprof::analyzer;

namespace {

struct Series {
  std::vector<uint64_t> x, y;
};

/// The definition: two passes.
long double oracle(const std::vector<uint64_t>& x, const std::vector<uint64_t>& y) {
  const auto n = static_cast<long double>(x.size());
  long double mx = 0;
  long double my = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mx += static_cast<long double>(x[i]) / n;
    my += static_cast<long double>(y[i]) / n;
  }
  long double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += (x[i] - mx) * (y[i] - my);
  }
  return sum / n;
}

long double measured(const std::vector<uint64_t>& x, const std::vector<uint64_t>& y) {
  UInt128 sx = 0;
  UInt128 sy = 0;
  UInt128 sxy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sx += x[i];
    sy += y[i];
    sxy += static_cast<UInt128>(x[i]) * y[i];
  }
  return covariance(x.size(), sx, sy, sxy);
}

}  // namespace

TEST_CASE("moments: exact answers") {
  CHECK(measured({1, 2, 3, 4}, {1, 2, 3, 4}) == Approx(1.25));
  CHECK(measured({1, 2, 3}, {3, 2, 1}) == Approx(-2.0 / 3));
  CHECK(measured({5}, {5}) == 0);
  CHECK(covariance(0, 0, 0, 0) == 0);
}

TEST_CASE("moments: a small spread on a huge mean keeps its digits") {
  // 2^46 ns are 19 hours: floating-point sums of squares would lose every digit of the spread.
  const uint64_t base = uint64_t{1} << 46;
  CHECK(measured({base + 1, base + 2, base + 3, base + 4},
                 {base + 1, base + 2, base + 3, base + 4}) == 1.25L);
  CHECK(measured({base + 1, base + 3}, {base + 7, base + 1}) == -3.0L);
}

TEST_CASE("moments: sums of the largest supported size do not overflow") {
  // n = 2^28 intervals, half of them 2^40 and half of them 0: variance 2^78.
  const uint64_t n = uint64_t{1} << 28;
  const UInt128 x = static_cast<UInt128>(n / 2) << 40;
  const UInt128 xx = static_cast<UInt128>(n / 2) << 80;
  CHECK(covariance(n, x, x, xx) == std::ldexp(1.0L, 78));
  // At the limit of the analyzer: 2^32 intervals, half of them 2^47.
  CHECK(covariance(uint64_t{1} << 32, UInt128{1} << 78, UInt128{1} << 78, UInt128{1} << 125) ==
        std::ldexp(1.0L, 92));
}

TEST_CASE("moments: equal to two passes, also for heavy tails") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    Series s;
    for (int i = 0; i < 1000; ++i) {
      s.x.push_back(static_cast<uint64_t>(std::exp(random() % 2000 / 100.0)));
      s.y.push_back(random() % 3 == 0 ? 0 : s.x.back() / 2 + random() % 1000);
    }
    const auto scale = std::sqrt(static_cast<double>(oracle(s.x, s.x) * oracle(s.y, s.y)));
    CHECK(std::abs(static_cast<double>(measured(s.x, s.y) - oracle(s.x, s.y))) < 1e-12 * scale);
  }
}

TEST_CASE("moments: batches add up to the same sums, however the intervals are split") {
  std::mt19937_64 random(5);
  BatchSums one;
  BatchSums many;
  BatchSums current;
  for (int i = 0; i < 500; ++i) {
    std::vector<std::pair<uint32_t, uint64_t>> times;
    uint64_t latency = 0;
    for (uint32_t node = 1; node <= 4; ++node) {
      if (random() % 3 == 0) {
        continue;
      }
      times.emplace_back(node, random() % 1000);
      latency += times.back().second;
    }
    for (BatchSums* sums : {&one, &current}) {
      ++sums->n;
      sums->add_node(0, latency, latency);
      for (size_t b = 0; b < times.size(); ++b) {
        sums->add_node(times[b].first, times[b].second, latency);
        for (size_t a = 0; a < b; ++a) {
          sums->add_product(times[b].first, times[a].first - 1,
                            UInt128{times[a].second} * times[b].second);
        }
      }
    }
    if (random() % 20 == 0) {
      many += current;
      current = {};
    }
  }
  many += current;
  CHECK(one.n == many.n);
  for (uint32_t node = 0; node <= 4; ++node) {
    CHECK((one.node(node).x == many.node(node).x && one.node(node).xx == many.node(node).xx));
    CHECK((one.node(node).xt == many.node(node).xt && one.node(node).count != 0));
    for (uint32_t rank = 0; rank + 1 < node; ++rank) {
      CHECK((one.product(node, rank) == many.product(node, rank) && one.product(node, rank) != 0));
    }
  }
}
