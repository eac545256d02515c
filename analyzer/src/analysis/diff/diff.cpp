#include "vprof/analyzer/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/diff/diff_nesting.h"
#include "statistics/significance.h"

namespace vprof::analyzer {
namespace {

constexpr double kLeastChange = 0.01;  // of a factor, as a fraction of Var(latency in A)

using Range = std::array<double, 2>;

bool known(const Range& range) { return range[0] > 0 && range[1] > 0; }

/// A standard error and its degrees of freedom; 0: unknown.
struct StandardError {
  double error = 0, degrees = 0;
};

/// Of the difference of two independent estimates (Welch 1947, Satterthwaite 1946).
StandardError combined(const StandardError& a, const StandardError& b) {
  const double squares = a.error * a.error + b.error * b.error;
  const auto part = [](const StandardError& one) {
    return one.degrees > 0 ? std::pow(one.error, 4) / one.degrees : 0;
  };
  const double parts = part(a) + part(b);
  return {std::sqrt(squares), parts > 0 ? squares * squares / parts : 0};
}

/// The standard error of the logarithm of a figure, from its confidence interval.
StandardError log_error(const Range& ci95, double degrees) {
  if (!known(ci95) || degrees <= 0) {
    return {};
  }
  return {std::log(ci95[1] / ci95[0]) / 2 / t_quantile(kSignificance, degrees), degrees};
}

/// What is tested together.
struct Tests {
  std::vector<double> p_values;
  std::vector<bool*> significant;

  void add(double p, bool& result) {
    p_values.push_back(p);
    significant.push_back(&result);
  }
  void decide() const {
    const std::vector<bool> rejected = holm(p_values, kSignificance);
    for (size_t i = 0; i < rejected.size(); ++i) {
      *significant[i] = rejected[i];
    }
  }
};

struct Side {
  double value = 0;
  Range ci95{};
  double degrees = 0;
};

/// A figure and, on the logarithmic scale, its confidence interval.
FigureChange figure(const char* name, const Side& a, const Side& b) {
  FigureChange change{name, a.value, b.value, 1, {}, false};
  change.ratio = a.value > 0 ? b.value / a.value : b.value > 0 ? HUGE_VAL : 1;
  const StandardError error = combined(log_error(a.ci95, a.degrees), log_error(b.ci95, b.degrees));
  if (a.value > 0 && b.value > 0 && known(a.ci95) && known(b.ci95)) {
    const double reach =
        error.degrees > 0 ? t_quantile(kSignificance, error.degrees) * error.error : 0;
    change.ci95 = {change.ratio * std::exp(-reach), change.ratio * std::exp(reach)};
  }
  return change;
}

double p_of(const FigureChange& change, const Side& a, const Side& b) {
  const StandardError error = combined(log_error(a.ci95, a.degrees), log_error(b.ci95, b.degrees));
  return known(change.ci95) ? p_of_zero(std::log(change.ratio), error.error, error.degrees) : 1;
}

/// Of the confidence intervals of A and B.
struct Degrees {
  double a = 0, b = 0;
};

Range roots(const Range& range) { return {std::sqrt(range[0]), std::sqrt(range[1])}; }

/// The standard deviation is the root of the variance: one test for both.
constexpr const char* kNotTested = "stddev";

std::vector<FigureChange> figures_of(const IntervalSummary& a, const IntervalSummary& b,
                                     std::vector<double>* p_values = nullptr) {
  std::vector<FigureChange> changes;
  const auto add = [&](const char* name, double IntervalSummary::* value,
                       Range IntervalSummary::* ci95, const auto& scaled) {
    Side sides[2];
    const IntervalSummary* summaries[2] = {&a, &b};
    for (int i = 0; i < 2; ++i) {
      sides[i] = {summaries[i]->*value, {}, summaries[i]->degrees};
      if (ci95 != nullptr) {
        sides[i].ci95 = scaled(summaries[i]->*ci95);
      }
    }
    changes.push_back(figure(name, sides[0], sides[1]));
    if (p_values != nullptr) {
      p_values->push_back(p_of(changes.back(), sides[0], sides[1]));
    }
  };
  const auto plain = [](const Range& range) { return range; };
  add("mean", &IntervalSummary::mean_ns, &IntervalSummary::mean_ci95, plain);
  add("stddev", &IntervalSummary::stddev_ns, &IntervalSummary::variance_ci95, roots);
  add("variance", &IntervalSummary::variance_ns2, &IntervalSummary::variance_ci95, plain);
  add("p50", &IntervalSummary::p50_ns, nullptr, plain);
  add("p95", &IntervalSummary::p95_ns, nullptr, plain);
  add("p99", &IntervalSummary::p99_ns, &IntervalSummary::p99_ci95, plain);
  add("p99.9", &IntervalSummary::p999_ns, nullptr, plain);
  add("max", &IntervalSummary::max_ns, nullptr, plain);
  return changes;
}

void test_figures(std::vector<FigureChange>& changes, const std::vector<double>& p_values,
                  Tests& tests) {
  for (size_t i = 0; i < changes.size(); ++i) {
    if (known(changes[i].ci95) && changes[i].name != kNotTested) {
      tests.add(p_values[i], changes[i].significant);
    }
  }
}

FigureChange label_figure(const char* name, const LabelSummary& a, const LabelSummary& b,
                          double LabelSummary::* value, Range LabelSummary::* ci95,
                          const Degrees& degrees) {
  return figure(name, {a.*value, a.*ci95, degrees.a}, {b.*value, b.*ci95, degrees.b});
}

std::vector<LabelChange> labels_of(const IntervalSummary& a, const IntervalSummary& b) {
  std::vector<LabelChange> changes;
  const Degrees degrees{a.degrees, b.degrees};
  for (const LabelSummary& one : a.labels) {
    const auto other = std::find_if(b.labels.begin(), b.labels.end(),
                                    [&](const LabelSummary& l) { return l.label == one.label; });
    if (a.labels.size() < 2 || other == b.labels.end()) {
      continue;
    }
    LabelChange& change = changes.emplace_back();
    change.label = one.label;
    change.count_a = one.count;
    change.count_b = other->count;
    using L = LabelSummary;
    change.figures = {
        label_figure("mean", one, *other, &L::mean_ns, &L::mean_ci95, degrees),
        figure("stddev", {std::sqrt(one.variance_ns2)}, {std::sqrt(other->variance_ns2)}),
        label_figure("p50", one, *other, &L::p50_ns, &L::p50_ci95, degrees),
        label_figure("p95", one, *other, &L::p95_ns, &L::p95_ci95, degrees),
        label_figure("p99", one, *other, &L::p99_ns, &L::p99_ci95, degrees)};
  }
  return changes;
}

/// What changed, as a part of the variance of A.
struct Part {
  double change = 0;
  Range ci95{};
  double p = 1;  ///< of the hypothesis that nothing changed
};

Part part_of(double change_ns2, const StandardError& error, double variance_a) {
  const double change = change_ns2 / variance_a;
  const double reach =
      error.degrees > 0 ? t_quantile(kSignificance, error.degrees) * error.error / variance_a : 0;
  return {
      change, {change - reach, change + reach}, p_of_zero(change_ns2, error.error, error.degrees)};
}

struct TestedKind {
  KindChange change;
  bool tested = false;
  double p = 1;
};

/// The changes of all kinds of time. Tested are those that hold at least kLeastChange in A or B.
std::vector<TestedKind> kinds_of(const Profile& a, const Profile& b) {
  std::vector<TestedKind> changes;
  const double variance = a.interval.variance_ns2;
  const auto find = [](const Profile& profile, TimeKind kind) {
    const auto found = std::find_if(profile.kinds.begin(), profile.kinds.end(),
                                    [&](const KindOfTime& one) { return one.kind == kind; });
    return found == profile.kinds.end() ? KindOfTime{.kind = kind} : *found;
  };
  for (size_t i = 0; variance > 0 && i < kTimeKinds.size(); ++i) {
    const KindOfTime in_a = find(a, static_cast<TimeKind>(i));
    const KindOfTime in_b = find(b, static_cast<TimeKind>(i));
    if (in_a.mean_ns <= 0 && in_b.mean_ns <= 0) {
      continue;
    }
    const double ns2_a = in_a.share * variance;
    const double ns2_b = in_b.share * b.interval.variance_ns2;
    const Part part = part_of(
        ns2_b - ns2_a,
        combined({in_a.share_error_ns2, in_a.degrees}, {in_b.share_error_ns2, in_b.degrees}),
        variance);
    changes.push_back({{in_a.kind, in_a.mean_ns, in_b.mean_ns, part.change, part.ci95, false},
                       std::max(std::abs(ns2_a), std::abs(ns2_b)) >= kLeastChange * variance,
                       part.p});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const TestedKind& x, const TestedKind& y) {
    return std::abs(x.change.change) > std::abs(y.change.change);
  });
  return changes;
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

/// What of the variance goes with a factor, ns².
double covariance_of(const Factor* factor, double variance) {
  if (factor == nullptr) {
    return 0;
  }
  return factor->kind == FactorKind::kCovariance ? factor->variance_ns2 : factor->share * variance;
}

StandardError error_of(const Factor* factor) {
  if (factor == nullptr) {
    return {};
  }
  const bool pair = factor->kind == FactorKind::kCovariance;
  return {pair ? factor->error_ns2 : factor->share_error_ns2, factor->degrees};
}

/// How much a factor varies, ns².
double size_of(const Factor* factor) {
  return factor == nullptr ? 0 : std::abs(factor->variance_ns2);
}

struct TestedChange {
  FactorChange change;
  bool tested = false;  // only these may be listed
  double p = 1;
  FactorSides sides;
};

/// A factor without an instance consists of bodies that are all of their functions: it says what
/// the functions say.
bool repeats_others(const FactorSides& sides) {
  const auto has_place = [](const Factor* factor) {
    return factor != nullptr && !factor->instances.empty();
  };
  return !has_place(sides.a) && !has_place(sides.b);
}

/// The changes of all factors. Tested are those that hold at least kLeastChange in A or B: which
/// these are does not depend on the change, so that chance does not choose what is tested.
std::vector<TestedChange> factors_of(const Profile& a, const Profile& b) {
  std::vector<TestedChange> changes;
  const double variance = a.interval.variance_ns2;
  if (variance <= 0) {
    return changes;
  }
  for (const auto& [functions, sides] : pair_factors(a, b)) {
    const double size = std::max(size_of(sides.a), size_of(sides.b));
    if (repeats_others(sides)) {
      continue;
    }
    TestedChange& tested = changes.emplace_back();
    tested.tested = size >= kLeastChange * variance;
    tested.sides = sides;
    FactorChange& change = tested.change;
    change.kind = (sides.a != nullptr ? sides.a : sides.b)->kind;
    change.functions = functions;
    change.a = covariance_of(sides.a, variance);
    change.b = covariance_of(sides.b, b.interval.variance_ns2);
    if (sides.b != nullptr && sides.b->degrees > 0) {
      change.share_ci95_b = sides.b->share_ci95;
    }
    const Part part =
        part_of(change.b - change.a, combined(error_of(sides.a), error_of(sides.b)), variance);
    change.change = part.change;
    change.ci95 = part.ci95;
    tested.p = part.p;
  }
  return changes;
}

/// Those that are listed, each with what is within it.
std::vector<FactorChange> listed(const std::vector<TestedChange>& tested) {
  std::vector<NestedChange> changes;
  for (const TestedChange& one : tested) {
    if (one.tested && std::abs(one.change.change) >= kLeastChange) {
      changes.push_back({one.change, one.sides.a, one.sides.b});
    }
  }
  return nest(std::move(changes));
}

}  // namespace

Diff diff(const Profile& a, const Profile& b) {
  Diff result;
  result.interval = a.interval.name;
  result.count_a = a.interval.count;
  result.count_b = b.interval.count;
  std::vector<double> p_values;
  result.figures = figures_of(a.interval, b.interval, &p_values);
  std::vector<TestedKind> kinds = kinds_of(a, b);
  std::vector<TestedChange> factors = factors_of(a, b);
  Tests tests;
  test_figures(result.figures, p_values, tests);
  const auto add_tested = [&](auto& changes) {
    for (auto& one : changes) {
      if (one.tested) {
        tests.add(one.p, one.change.significant);
      }
    }
  };
  add_tested(kinds);
  add_tested(factors);
  tests.decide();
  for (FigureChange& figure : result.figures) {
    if (figure.name == kNotTested) {
      const auto variance = std::find_if(result.figures.begin(), result.figures.end(),
                                         [](const auto& one) { return one.name == "variance"; });
      figure.significant = variance->significant;
    }
  }
  for (const TestedKind& one : kinds) {
    result.kinds.push_back(one.change);
  }
  result.factors = listed(factors);
  for (const TestedChange& one : factors) {
    result.all_factors.push_back(one.change);
    result.all_factors.back().in_a = one.sides.a != nullptr;
    result.all_factors.back().in_b = one.sides.b != nullptr;
  }
  result.variance_a = a.interval.variance_ns2;
  result.variance_b = b.interval.variance_ns2;
  result.labels = labels_of(a.interval, b.interval);
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

}  // namespace vprof::analyzer
