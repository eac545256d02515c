// Two profiles side by side: did a change help, and where? Compares factor by factor, as table 3 of
// Huang et al. (SIGMOD 2017) does.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// A figure of the latency in A and B.
struct FigureChange {
  /// mean, stddev, variance, p50, p95, p99, p99.9 or max
  std::string name;
  /// ns; of the variance: ns².
  double a = 0, b = 0;
  /// b / a
  double ratio = 1;
  /// 95 % confidence interval of the ratio; {0, 0} if a profile has too few intervals for one.
  std::array<double, 2> ci95{};
  /// Whether it changed by more than chance, among all that diff() compares.
  bool significant = false;
};

/// What of the variance goes with a factor in A and B: Cov(X, T), or Σ 2 Cov of a pair. It adds up
/// to the variance, so the changes of siblings add up to that of their parent. A factor that one of
/// the profiles does not list has 0 there.
struct FactorChange {
  FactorKind kind = FactorKind::kVariance;
  std::vector<std::string> functions;
  /// ns²
  double a = 0, b = 0;
  /// (b - a) / Var(latency in A)
  double change = 0;
  /// 95 % confidence interval of `change`.
  std::array<double, 2> ci95{};
  /// Whether it changed by more than chance, among all that diff() compares.
  bool significant = false;
  /// The function of the innermost listed change that contains this one: its figures have these
  /// already. Empty: there is none. Of a pair: always empty, its figures are in both functions'.
  std::string within;
  /// Number of listed changes that contain this one.
  int depth = 0;
};

struct Diff {
  std::string interval;
  uint64_t count_a = 0, count_b = 0;
  std::vector<FigureChange> figures;
  /// Those with a change of at least 1 % of Var(latency in A), in magnitude. What is within
  /// another one follows it; otherwise the largest comes first, and pairs come last.
  std::vector<FactorChange> factors;
  /// One line each, for the report.
  std::vector<std::string> notes;
};

/// Both profiles should list all factors (Options::least_listed = 0).
///
/// Of two profiles of the same program in the same state, all figures and factors taken together,
/// something is significant in at most 5 % of the cases: Student's t with the degrees of freedom of
/// Welch and Satterthwaite, and Holm's procedure over everything that is compared.
Diff diff(const Profile& a, const Profile& b);

/// A condition on a change, such as `p99>1.1x`, `variance<0.5x`, `mean>=2ms`.
struct Condition {
  std::string text;
  /// As FigureChange::name.
  std::string figure;
  bool greater = true, or_equal = false;
  /// Whether the limit is a ratio of B to A; otherwise it is a latency of B in ns.
  bool is_ratio = true;
  double limit = 1;
};

/// Error: one line that shows what a condition looks like.
Result<Condition> parse_condition(const std::string& text);

/// Whether the condition is met. `certainly`: only if the whole confidence interval meets it, so
/// never for figures without one.
bool holds(const Condition& condition, const Diff& diff, bool certainly);

}  // namespace vprof::analyzer
