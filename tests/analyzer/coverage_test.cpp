// Do 95 % confidence intervals contain the truth 95 times out of 100? Tested on data whose truth is
// known: 0, above 1 and in between, with heavy tails and with neighbours that resemble each other.
// How often does chance list a covariance, or star a difference?
//
// `vprof_analyzer_tests "[coverage]"` prints the figures of docs/analysis.md.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>

#include "simulated_sums.h"
#include "vprof/analyzer/diff.h"

using namespace vprof;
using namespace vprof::analyzer;
using test::SimulatedSums;

namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  double uniform() { return uniform_(engine_); }
  double normal() { return normal_(engine_); }
  double exponential() { return -std::log(1 - uniform()); }
  bool chance(double p) { return uniform() < p; }

 private:
  std::mt19937_64 engine_;
  std::uniform_real_distribution<double> uniform_;
  std::normal_distribution<double> normal_;
};

/// Waits come in bursts of twenty on average, as contention does.
struct Bursts {
  static constexpr double kPart = 0.2;  // of the requests
  static constexpr double kLength = 20;
  bool now = false;
  bool next(Random& random) {
    const double leave = 1 / kLength;
    now = random.chance(now ? leave : leave * kPart / (1 - kPart)) ? !now : now;
    return now;
  }
};

/// Times of x, y and rest in one request, in units of 10 us.
struct Times {
  double x = 0, y = 0, rest = 0;
};
using Next = std::function<Times()>;

/// What a figure is in truth; NAN: not tested.
struct Truth {
  double contribution = NAN, share = NAN, tail_share = NAN, pair = NAN;
};

struct Scenario {
  const char* name;
  Truth truth;
  std::function<Next(Random&)> start;
};

/// Log-normal waits with sigma 1, of 60 at the median, beside exponential work of 100: the slowest
/// 1 % of the waits hold a tenth of all waiting time.
double share_of_waits() {
  const double first = Bursts::kPart * 60 * std::exp(0.5);
  const double second = Bursts::kPart * 60 * 60 * std::exp(2.0);
  const double wait = second - first * first;
  return wait / (wait + 100 * 100);
}

std::vector<Scenario> scenarios() {
  const auto each = [](auto times) {
    return [times](Random& random) -> Next { return [&random, times] { return times(random); }; };
  };
  const double waits = share_of_waits();
  const double rare = 2500.0 / 60 * 59 / 60;
  return {
      {"bursts of log-normal waits",
       {waits, waits, NAN, NAN},
       [](Random& random) -> Next {
         return [&random, bursts = Bursts()]() mutable {
           const bool waiting = bursts.next(random);
           return Times{waiting ? 60 * std::exp(random.normal()) : 0, 100 * random.exponential(),
                        0};
         };
       }},
      {"independent, exponential", {0.25, 0.25, NAN, 0}, each([](Random& r) {
         return Times{r.exponential(), r.exponential(), std::sqrt(2.0) * r.exponential()};
       })},
      {"independent, log-normal", {0.5, 0.5, 0.5, 0}, each([](Random& r) {
         return Times{std::exp(r.normal()), std::exp(r.normal()), 0};
       })},
      {"normal, 9.6 % to 90.4 %", {0.096, 0.096, 0.096, 0}, each([](Random& r) {
         return Times{50 + std::sqrt(0.096) * r.normal(), 50 + std::sqrt(0.904) * r.normal(), 0};
       })},
      {"one of six equal handlers", {1600 * 5.0 / 36 / 64, 0, 0, NAN}, each([](Random& r) {
         const bool runs = r.chance(1.0 / 6);
         return Times{runs ? 40.0 : 0, runs ? 0 : 40.0, 50 + 8 * r.normal()};
       })},
      {"a pad that evens out a fetch", {2.5, 0, 0, -5}, each([](Random& r) {
         const double fetch = 100 + std::sqrt(2.5) * r.normal();
         return Times{fetch, 200 - fetch, 20 + r.normal()};
       })},
      {"a share above 1", {3.2, 1.6, 1.6, -3.2}, each([](Random& r) {
         const double a = r.normal();
         return Times{20 + 2 * a, 20 - a, 20 + 0.5 * r.normal()};
       })},
      {"a rare slow path", {rare / (rare + 4), rare / (rare + 4), NAN, NAN}, each([](Random& r) {
         return Times{r.chance(1.0 / 60) ? 50.0 : 0, 20 + 2 * r.normal(), 0};
       })},
      {"as much as the request is large", {2.0 / 6, 0.5, 0.5, 2.0 / 6}, each([](Random& r) {
         const double size = r.exponential();
         return Times{size + r.exponential(), size + r.exponential(), 0};
       })},
  };
}

struct Hits {
  int of = 0, hit = 0;
  void add(bool good) {
    ++of;
    hit += good ? 1 : 0;
  }
  double part() const { return of == 0 ? NAN : static_cast<double>(hit) / of; }
};

struct Coverage {
  Hits contribution, share, tail_share, pair;
};

bool contains(const std::array<double, 2>& ci95, double truth) {
  constexpr double kRounding = 1e-6;  // times are whole nanoseconds
  return ci95[0] - kRounding <= truth && truth <= ci95[1] + kRounding;
}

void check(const Profile& profile, const Truth& truth, Coverage& coverage) {
  const Factor* x = test::listed_factor(profile, {"x"});
  const Factor* pair = test::listed_factor(profile, {"x", "y"});
  if (x == nullptr) {
    return;  // it never ran
  }
  if (!std::isnan(truth.contribution)) {
    coverage.contribution.add(contains(x->ci95, truth.contribution));
  }
  if (!std::isnan(truth.share)) {
    coverage.share.add(contains(x->share_ci95, truth.share));
  }
  if (!std::isnan(truth.tail_share) && x->tail_share_ci95) {
    coverage.tail_share.add(contains(*x->tail_share_ci95, truth.tail_share));
  }
  if (!std::isnan(truth.pair) && pair != nullptr) {
    coverage.pair.add(contains(pair->ci95, truth.pair));
  }
}

Coverage coverage(const Scenario& scenario, uint64_t n, int runs) {
  Coverage result;
  Options options;
  options.least_listed = 0;
  for (int run = 0; run < runs; ++run) {
    Random random(static_cast<uint64_t>(run) * 7919 + n);
    const Next next = scenario.start(random);
    SimulatedSums made(n);
    const uint32_t x = made.place(0, "x");
    const uint32_t y = made.place(0, "y");
    const uint32_t rest = made.place(0, "rest");
    for (uint64_t i = 0; i < n; ++i) {
      const Times times = next();
      const auto ns = [](double units) {
        return static_cast<uint64_t>(1e4 * std::max(0.0, units));
      };
      made.add({{x, ns(times.x)}, {y, ns(times.y)}, {rest, ns(times.rest)}});
    }
    check(made.profile(options), scenario.truth, result);
  }
  return result;
}

/// Ten independent functions, two of which wait in bursts.
SimulatedSums independent(uint64_t seed, uint64_t n, double slower = 1) {
  Random random(seed);
  SimulatedSums made(n);
  std::vector<uint32_t> places;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}) {
    places.push_back(made.place(0, name));
  }
  Bursts bursts[2];
  std::vector<std::pair<uint32_t, uint64_t>> times;
  for (uint64_t i = 0; i < n; ++i) {
    times.clear();
    for (size_t k = 0; k < places.size(); ++k) {
      double ns = 1e5 * random.exponential();
      if (k < 2) {
        ns = bursts[k].next(random) ? 6e4 * std::exp(random.normal()) : 0;
      }
      times.emplace_back(places[k], static_cast<uint64_t>(k == 2 ? slower * ns : ns));
    }
    made.add(times);
  }
  return made;
}

/// How often the report on independent functions lists a covariance.
double false_listings(uint64_t n, int runs) {
  Hits hits;
  for (int run = 0; run < runs; ++run) {
    const Profile profile = independent(static_cast<uint64_t>(run) + 1, n).profile();
    bool any = false;
    for (const Factor& factor : profile.factors) {
      any = any || factor.kind == FactorKind::kCovariance;
    }
    hits.add(any);
  }
  return hits.part();
}

/// How often a report on slices of ten requests is certain of a function whose share is 0: a pad
/// evens out how long a fetch takes. The requests of a slice are alike.
double false_accusations(uint64_t slices, int runs) {
  constexpr uint64_t kOfSlice = 10;
  const auto ns = [](double ms) { return static_cast<uint64_t>(1e6 * ms); };
  Hits hits;
  for (int run = 0; run < runs; ++run) {
    Random random(static_cast<uint64_t>(run) + 1);
    SimulatedSums made(slices * kOfSlice);
    const uint32_t fetch = made.place(0, "fetch");
    const uint32_t pad = made.place(0, "pad");
    const uint32_t log = made.place(0, "log");
    for (uint64_t slice = 0; slice < slices; ++slice) {
      made.begin_slice();
      const double fetch_ms = 17 * random.uniform();
      const double log_ms = 14 * random.uniform();
      for (uint64_t request = 0; request < kOfSlice; ++request) {
        const double fetched_ms = fetch_ms + random.uniform();
        made.add({{fetch, ns(fetched_ms)},
                  {pad, ns(18 - fetched_ms)},
                  {log, ns(log_ms + random.uniform())}});
      }
    }
    bool any = false;
    for (const Factor& factor : made.profile().factors) {
      any = any || (factor.significant && factor.kind == FactorKind::kVariance &&
                    factor.functions.front() != "log");
    }
    hits.add(any);
  }
  return hits.part();
}

bool stars(const Diff& diff) {
  bool any = false;
  for (const FigureChange& figure : diff.figures) {
    any = any || figure.significant;
  }
  for (const KindChange& kind : diff.kinds) {
    any = any || kind.significant;
  }
  for (const FactorChange& factor : diff.factors) {
    any = any || factor.significant;
  }
  return any;
}

struct DiffRates {
  Hits any;    // something is starred
  Hits cause;  // c is
};

/// What a diff stars if `c` takes `slower` times as long in B.
DiffRates diffs(uint64_t n, int runs, double slower) {
  Options all;
  all.least_listed = 0;
  DiffRates rates;
  for (int run = 0; run < runs; ++run) {
    const auto seed = static_cast<uint64_t>(run);
    const Profile a = independent(2 * seed + 1, n).profile(all);
    const Profile b = independent(2 * seed + 2, n, slower).profile(all);
    const Diff found = diff(a, b);
    rates.any.add(stars(found));
    bool cause = false;
    for (const FactorChange& factor : found.factors) {
      cause = cause || (factor.significant && factor.functions == std::vector<std::string>{"c"});
    }
    rates.cause.add(cause);
  }
  return rates;
}

void print(const char* name, const Coverage& found) {
  const auto shown = [](const Hits& hits) { return hits.of == 0 ? NAN : 100 * hits.part(); };
  std::printf("  %-34s %12.1f %8.1f %11.1f %8.1f\n", name, shown(found.contribution),
              shown(found.share), shown(found.tail_share), shown(found.pair));
}

}  // namespace

TEST_CASE("confidence intervals: coverage", "[.][coverage]") {
  for (const uint64_t n : {200, 1000, 10'000}) {
    const int runs = n > 5000 ? 300 : 1000;
    std::printf("%llu intervals, %d runs: 95 %% confidence intervals that contain the truth, %%\n",
                static_cast<unsigned long long>(n), runs);
    std::printf("  %-34s %12s %8s %11s %8s\n", "", "contribution", "share", "tail share", "pair");
    for (const Scenario& scenario : scenarios()) {
      print(scenario.name, coverage(scenario, n, runs));
    }
  }
}

TEST_CASE("what chance lists and stars", "[.][coverage]") {
  for (const uint64_t n : {200, 1000, 10'000}) {
    const int runs = n > 5000 ? 200 : 1000;
    std::printf(
        "%6llu intervals: %.1f %% of reports list a covariance of independent functions, "
        "%.1f %% of diffs of equal programs star something\n",
        static_cast<unsigned long long>(n), 100 * false_listings(n, runs),
        100 * diffs(n, runs, 1).any.part());
  }
}

TEST_CASE("what few slices accuse", "[.][coverage]") {
  for (const uint64_t slices : {4, 5, 6, 8, 16, 40}) {
    std::printf("%3llu slices: %.1f %% of reports are certain of a function without a share\n",
                static_cast<unsigned long long>(slices), 100 * false_accusations(slices, 1000));
  }
}

TEST_CASE("what a diff finds", "[.][coverage]") {
  for (const uint64_t n : {1000, 10'000}) {
    for (const double slower : {1.1, 1.2, 1.5, 2.0, 3.0}) {
      const DiffRates rates = diffs(n, n > 5000 ? 50 : 200, slower);
      std::printf(
          "%6llu intervals, c takes %.1f times as long: %.0f %% of diffs star c, %.0f %% "
          "star something\n",
          static_cast<unsigned long long>(n), slower, 100 * rates.cause.part(),
          100 * rates.any.part());
    }
  }
}

// The seeds are fixed, so these pass always or never. With 200 runs a true coverage of 93 % gives
// less than 89 % in one of a hundred samples.
TEST_CASE("confidence intervals contain the truth often enough") {
  for (const Scenario& scenario : scenarios()) {
    INFO(scenario.name);
    const Coverage found = coverage(scenario, 1000, 200);
    for (const Hits* hits : {&found.contribution, &found.share, &found.tail_share, &found.pair}) {
      CHECK((hits->of == 0 || hits->part() >= 0.9));
    }
  }
}

TEST_CASE("covariances of independent functions are not listed") {
  CHECK(false_listings(1000, 100) <= 0.05);
}

TEST_CASE("few slices with requests that resemble each other accuse nobody") {
  CHECK(false_accusations(4, 300) <= 0.07);
}

TEST_CASE("a diff of equal programs stars nothing, and finds what changed") {
  CHECK(diffs(1000, 60, 1).any.part() <= 0.05);
  CHECK(diffs(1000, 10, 3).cause.part() == 1);
}
