// Two profiles side by side: did the change help, and where? (Huang et al., SIGMOD 2017, table 3,
// factor by factor.)
#pragma once

#include <array>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// A figure of the latency in A and B. `ratio` = b / a, with a 95 % confidence interval from those
/// of both; {0, 0} where a profile is too short to have one.
struct FigureChange {
  std::string name;  ///< mean, stddev, variance, p50, p95, p99, p99.9, max
  double a = 0, b = 0;
  double ratio = 1;
  std::array<double, 2> ci95{};
};

/// Variance that a factor brings, ns². It may be in one of the two only.
struct FactorChange {
  FactorKind kind = FactorKind::kVariance;
  std::vector<std::string> functions;
  double a = 0, b = 0;
  double change = 0;             ///< (b - a) / Var(latency in A)
  std::array<double, 2> ci95{};  ///< of `change`
  bool significant = false;      ///< the interval does not hold 0
};

struct Diff {
  std::string interval;
  uint64_t count_a = 0, count_b = 0;
  std::vector<FigureChange> figures;
  std::vector<FactorChange> factors;  ///< those that change Var(A) by 1 % or more, greatest first
  std::vector<std::string> notes;
};

/// Profiles should list all factors (Options::least_listed = 0): what is not listed counts as 0.
Diff diff(const Profile& a, const Profile& b);

/// A condition on the change: `p99>1.1x`, `variance<0.5x`, `mean>=2ms`.
struct Condition {
  std::string text;
  std::string figure;  ///< as FigureChange::name
  bool greater = true, or_equal = false;
  bool is_ratio = true;  ///< of B to A; else of B, in ns
  double limit = 1;
};

/// Error: one line that says what a condition looks like.
Result<Condition> parse_condition(const std::string& text);

/// Whether it holds. `certainly`: only if it does so over the whole confidence interval.
bool holds(const Condition& condition, const Diff& diff, bool certainly);

}  // namespace vprof::analyzer
