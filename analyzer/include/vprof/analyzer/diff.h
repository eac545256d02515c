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

/// The latency of the intervals with one label, in A and B: mean, stddev, p50, p95 and p99. They
/// are not tested, so none is significant.
struct LabelChange {
  std::string label;
  uint64_t count_a = 0, count_b = 0;
  std::vector<FigureChange> figures;
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
  /// 95 % confidence interval of the share in B; {0, 0}: unknown. Not in the JSON.
  std::array<double, 2> share_ci95_b{};
  /// Whether the profiles have it at all. Only of Diff::all_factors, and not in the JSON.
  bool in_a = true, in_b = true;
  /// The function of the innermost listed change that contains this one: its figures have these
  /// already. Empty: there is none. Of a pair: always empty, its figures are in both functions'.
  std::string within;
  /// Number of listed changes that contain this one.
  int depth = 0;
};

/// The time of one kind in A and B, see KindOfTime. No time counts twice, so the changes add up to
/// that of the variance, and the means to those of the latency.
struct KindChange {
  TimeKind kind = TimeKind::kRunning;
  double mean_a_ns = 0, mean_b_ns = 0;
  /// (Cov(X, T) in B - Cov(X, T) in A) / Var(T in A)
  double change = 0;
  /// 95 % confidence interval of `change`.
  std::array<double, 2> ci95{};
  /// Whether it changed by more than chance, among all that diff() compares.
  bool significant = false;
};

struct Diff {
  std::string interval;
  uint64_t count_a = 0, count_b = 0;
  std::vector<FigureChange> figures;
  /// Of labels that both have, the most frequent in A first; none if there is only one.
  std::vector<LabelChange> labels;
  /// All kinds of time that A or B has, the largest change first, in magnitude.
  std::vector<KindChange> kinds;
  /// Those with a change of at least 1 % of Var(latency in A), in magnitude. What is within
  /// another one follows it; otherwise the largest comes first, and pairs come last.
  std::vector<FactorChange> factors;
  /// All factors, for conditions.
  std::vector<FactorChange> all_factors;
  double variance_a = 0, variance_b = 0;
  /// One line each, for the report.
  std::vector<std::string> notes;
};

/// Both profiles should list all factors (Options::least_listed = 0).
///
/// Of two profiles of the same program in the same state, all figures, kinds of time and factors
/// taken together, something is significant in at most 5 % of the cases: Student's t with the
/// degrees of freedom of Welch and Satterthwaite, and Holm's procedure over everything that is
/// compared.
Diff diff(const Profile& a, const Profile& b);

/// Error: one line; the profiles are of different kinds of intervals, or the programs have less
/// than a quarter of their measured functions in common, so a comparison would say nothing.
Result<void> comparable(const Profile& a, const Profile& b);

/// What a condition is about.
enum class ConditionOf : uint8_t {
  kLatency,  ///< a figure of all intervals, or of those with one label: `p99>2ms`, `p99(GET)>1.1x`
  kShare,    ///< the share of a factor in B: `share(f)>10%`
  kChange,   ///< FactorChange::change: `change(f)>5%`
};

/// A condition on two profiles. Spaces may stand between its parts.
struct Condition {
  std::string text;
  ConditionOf of = ConditionOf::kLatency;
  std::string figure = {};   ///< as FigureChange::name; `share` or `change` of a factor
  std::string subject = {};  ///< the label or the factor; empty: all intervals
  bool greater = true, or_equal = false;
  /// Whether the limit is a ratio of B to A; otherwise it is a latency of B in ns or, of a factor,
  /// a part of 1.
  bool is_ratio = true;
  double limit = 1;
};

/// Error: one line that shows what a condition looks like.
Result<Condition> parse_condition(const std::string& text);

/// A condition in the light of a comparison.
struct Verdict {
  bool holds = false;
  /// What the limit applies to, and its 95 % confidence interval; {0, 0}: there is none.
  double value = 0;
  std::array<double, 2> ci95{};
  /// Something that the reader should know; mostly empty.
  std::string remark = {};
};

/// `certainly`: a condition holds only if its whole confidence interval meets it, so never for
/// figures without one. Error: one line; there is no such label or factor.
Result<Verdict> judge(const Condition& condition, const Diff& diff, bool certainly);

}  // namespace vprof::analyzer
