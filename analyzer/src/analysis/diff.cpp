#include "vprof/analyzer/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace vprof::analyzer {
namespace {

constexpr double kLeastChange = 0.01;  // of a factor, as a fraction of Var(latency in A)
constexpr double kNormal = 1.96;       // 0.975 quantile of the standard normal distribution

using Range = std::array<double, 2>;

bool known(const Range& range) { return range[0] > 0 && range[1] > 0; }

/// Confidence interval of b / a. On the logarithmic scale the distances to the limits add in
/// squares, as errors of independent estimates do.
Range ratio_ci(double a, const Range& of_a, double b, const Range& of_b) {
  if (!known(of_a) || !known(of_b) || a <= 0 || b <= 0) {
    return {};
  }
  const double down = std::hypot(std::log(b / of_b[0]), std::log(of_a[1] / a));
  const double up = std::hypot(std::log(of_b[1] / b), std::log(a / of_a[0]));
  return {b / a * std::exp(-down), b / a * std::exp(up)};
}

FigureChange figure(const char* name, double a, double b, const Range& of_a = {},
                    const Range& of_b = {}) {
  const double ratio = a > 0 ? b / a : b > 0 ? HUGE_VAL : 1;
  return {name, a, b, ratio, ratio_ci(a, of_a, b, of_b)};
}

Range roots(const Range& range) { return {std::sqrt(range[0]), std::sqrt(range[1])}; }

std::vector<FigureChange> figures_of(const IntervalSummary& a, const IntervalSummary& b) {
  return {
      figure("mean", a.mean_ns, b.mean_ns, a.mean_ci95, b.mean_ci95),
      figure("stddev", a.stddev_ns, b.stddev_ns, roots(a.variance_ci95), roots(b.variance_ci95)),
      figure("variance", a.variance_ns2, b.variance_ns2, a.variance_ci95, b.variance_ci95),
      figure("p50", a.p50_ns, b.p50_ns),
      figure("p95", a.p95_ns, b.p95_ns),
      figure("p99", a.p99_ns, b.p99_ns, a.p99_ci95, b.p99_ci95),
      figure("p99.9", a.p999_ns, b.p999_ns),
      figure("max", a.max_ns, b.max_ns)};
}

/// The same factor in both profiles; null where a profile does not list it.
struct FactorSides {
  const Factor* a = nullptr;
  const Factor* b = nullptr;
};

/// Pairs factors by the names of their functions. Keys contain lines, which may have moved.
std::map<std::vector<std::string>, FactorSides> pair_factors(const Profile& a, const Profile& b) {
  std::map<std::vector<std::string>, FactorSides> all;
  const auto add = [&](const Profile& profile, const Factor* FactorSides::* side) {
    for (const Factor& factor : profile.factors) {
      const Factor*& first = all[factor.functions].*side;
      first = first == nullptr ? &factor : first;
    }
  };
  add(a, &FactorSides::a);
  add(b, &FactorSides::b);
  return all;
}

std::vector<FactorChange> factors_of(const Profile& a, const Profile& b) {
  std::vector<FactorChange> changes;
  const double variance = a.interval.variance_ns2;
  if (variance <= 0) {
    return changes;
  }
  for (const auto& [functions, sides] : pair_factors(a, b)) {
    FactorChange change;
    change.kind = (sides.a != nullptr ? sides.a : sides.b)->kind;
    change.functions = functions;
    change.a = sides.a != nullptr ? sides.a->variance_ns2 : 0;
    change.b = sides.b != nullptr ? sides.b->variance_ns2 : 0;
    change.change = (change.b - change.a) / variance;
    if (std::abs(change.change) < kLeastChange) {
      continue;
    }
    const double error = std::hypot(sides.a != nullptr ? sides.a->error_ns2 : 0,
                                    sides.b != nullptr ? sides.b->error_ns2 : 0) /
                         variance;
    change.ci95 = {change.change - kNormal * error, change.change + kNormal * error};
    change.significant = error > 0 && (change.ci95[0] > 0 || change.ci95[1] < 0);
    changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(), [](const auto& x, const auto& y) {
    return std::abs(x.change) > std::abs(y.change);
  });
  return changes;
}

/// Parses the limit of a condition: `1.1x`, `2ms`.
bool read_limit(const std::string& text, Condition& condition) {
  size_t used = 0;
  try {
    condition.limit = std::stod(text, &used);
  } catch (const std::exception&) {
    return false;
  }
  const std::string unit = text.substr(used);
  const std::map<std::string, double> units = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  condition.is_ratio = unit == "x";
  if (condition.is_ratio) {
    return std::isfinite(condition.limit);
  }
  const auto found = units.find(unit);
  // A limit on the variance would need a unit like ms².
  if (found == units.end() || condition.figure == "variance") {
    return false;
  }
  condition.limit *= found->second;
  return std::isfinite(condition.limit);
}

}  // namespace

Diff diff(const Profile& a, const Profile& b) {
  Diff result;
  result.interval = a.interval.name;
  result.count_a = a.interval.count;
  result.count_b = b.interval.count;
  result.figures = figures_of(a.interval, b.interval);
  result.factors = factors_of(a, b);
  if (a.interval.name != b.interval.name) {
    result.notes.push_back(fmt::format("A measures the interval '{}', B measures '{}'",
                                       a.interval.name, b.interval.name));
  }
  for (const auto& [name, profile] : {std::pair("A", &a), std::pair("B", &b)}) {
    for (const std::string& note : profile->losses.notes) {
      result.notes.push_back(fmt::format("{}: {}", name, note));
    }
  }
  return result;
}

Result<Condition> parse_condition(const std::string& text) {
  Condition condition;
  condition.text = text;
  const size_t at = text.find_first_of("<>");
  bool good = at != std::string::npos;
  if (good) {
    condition.figure = text.substr(0, at);
    const auto names = figures_of({}, {});
    good = std::any_of(names.begin(), names.end(),
                       [&](const FigureChange& f) { return f.name == condition.figure; });
    condition.greater = text[at] == '>';
    condition.or_equal = at + 1 < text.size() && text[at + 1] == '=';
    good = good && read_limit(text.substr(at + (condition.or_equal ? 2 : 1)), condition);
  }
  if (!good) {
    return fail(
        "'{}' is not a condition; write one like 'p99>1.1x' or 'mean>2ms', with mean, stddev, "
        "variance, p50, p95, p99, p99.9 or max",
        text);
  }
  return condition;
}

bool holds(const Condition& condition, const Diff& diff, bool certainly) {
  const auto found =
      std::find_if(diff.figures.begin(), diff.figures.end(),
                   [&](const FigureChange& f) { return f.name == condition.figure; });
  if (found == diff.figures.end()) {
    return false;
  }
  double value = condition.is_ratio ? found->ratio : found->b;
  if (certainly) {
    if (!known(found->ci95)) {
      return false;
    }
    value = found->ci95[condition.greater ? 0 : 1] * (condition.is_ratio ? 1 : found->a);
  }
  if (condition.or_equal && value == condition.limit) {
    return true;
  }
  return condition.greater ? value > condition.limit : value < condition.limit;
}

}  // namespace vprof::analyzer
