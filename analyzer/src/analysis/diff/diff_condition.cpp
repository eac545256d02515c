// The conditions of `vprof diff --fail-if`.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "vprof/analyzer/diff.h"
#include "vprof/support/text.h"

namespace vprof::analyzer {
namespace {

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) {
    return "";
  }
  return std::string(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

/// Parses the limit of a condition: `1.1x`, `2 ms`, `10%`.
bool read_limit(const std::string& text, Condition& condition) {
  size_t used = 0;
  try {
    condition.limit = std::stod(text, &used);
  } catch (const std::exception&) {
    return false;
  }
  const std::string unit = trimmed(text.substr(used));
  std::map<std::string, double> units = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  if (condition.of != ConditionOf::kLatency) {
    units = {{"%", 0.01}};
  } else if (condition.figure == "variance") {
    units.clear();  // its unit would be ms²
  }
  condition.is_ratio = unit == "x" && condition.of != ConditionOf::kChange;
  const auto found = units.find(unit);
  if (!condition.is_ratio && found == units.end()) {
    return false;
  }
  condition.limit *= condition.is_ratio ? 1 : found->second;
  return std::isfinite(condition.limit);
}

/// Parses what stands in front of the operator: `p99`, `p99(GET)`, `share(f)`.
bool read_figure(const std::string& text, Condition& condition) {
  constexpr std::array<std::string_view, 5> kOfLabels = {"mean", "stddev", "p50", "p95", "p99"};
  const size_t open = text.find('(');
  condition.figure = trimmed(text.substr(0, open));
  if (open == std::string::npos) {
    const std::vector<FigureChange> known = diff({}, {}).figures;
    return std::any_of(known.begin(), known.end(),
                       [&](const FigureChange& one) { return one.name == condition.figure; });
  }
  if (text.back() != ')') {
    return false;
  }
  condition.subject = trimmed(text.substr(open + 1, text.size() - open - 2));
  const bool change = condition.figure == "change";
  if (change || condition.figure == "share") {
    condition.of = change ? ConditionOf::kChange : ConditionOf::kShare;
    return !condition.subject.empty();
  }
  return std::find(kOfLabels.begin(), kOfLabels.end(), condition.figure) != kOfLabels.end();
}

/// Splits at the operator. Names of functions may contain `<` and `>`, limits do not.
bool read_condition(const std::string& text, Condition& condition) {
  const size_t at = text.find_last_of("<>");
  if (at == std::string::npos || at + 1 >= text.size()) {
    return false;
  }
  condition.greater = text[at] == '>';
  condition.or_equal = text[at + 1] == '=';
  const std::string figure = trimmed(text.substr(0, at));
  return !figure.empty() && read_figure(figure, condition) &&
         read_limit(text.substr(at + (condition.or_equal ? 2 : 1)), condition);
}

/// Whether a user may mean the function by this name: all of it, or what follows a `::`.
bool is_meant(const std::string& function, const std::string& name) {
  return function == name || (function.size() > name.size() + 2 && function.ends_with(name) &&
                              function.substr(function.size() - name.size() - 2, 2) == "::");
}

Result<const FactorChange*> factor_named(const std::string& name, const Diff& diff) {
  const FactorChange* found = nullptr;
  std::vector<std::string> names;
  for (const FactorChange& one : diff.all_factors) {
    if (one.kind == FactorKind::kCovariance) {
      continue;
    }
    names.push_back(one.functions[0]);
    if (one.functions[0] == name) {
      return &one;
    }
    if (is_meant(one.functions[0], name)) {
      if (found != nullptr) {
        return fail("'{}' may be {} or {}; write the whole name", name, found->functions[0],
                    one.functions[0]);
      }
      found = &one;
    }
  }
  if (found == nullptr) {
    const std::string near = nearest(name, names);
    return fail("neither profile has measured a factor '{}'{}", name,
                near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
  }
  return found;
}

Result<Verdict> verdict_on_factor(const Condition& condition, const Diff& diff) {
  const FactorChange* factor = VPROF_TRY(factor_named(condition.subject, diff));
  Verdict verdict;
  if (!factor->in_a || !factor->in_b) {
    verdict.remark = fmt::format("{} has no time in it: it was not called, or not measured",
                                 factor->in_b ? "A" : "B");
  }
  if (condition.of == ConditionOf::kChange) {
    verdict.value = factor->change;
    verdict.ci95 = factor->ci95;
    return verdict;
  }
  const double a = diff.variance_a > 0 ? factor->a / diff.variance_a : 0;
  const double b = diff.variance_b > 0 ? factor->b / diff.variance_b : 0;
  verdict.value = !condition.is_ratio ? b : a > 0 ? b / a : HUGE_VAL;
  verdict.ci95 = condition.is_ratio ? std::array<double, 2>{} : factor->share_ci95_b;
  return verdict;
}

Result<Verdict> verdict_on_latency(const Condition& condition, const Diff& diff) {
  const std::vector<FigureChange>* figures = &diff.figures;
  if (!condition.subject.empty()) {
    const auto label =
        std::find_if(diff.labels.begin(), diff.labels.end(),
                     [&](const LabelChange& one) { return one.label == condition.subject; });
    if (label == diff.labels.end()) {
      std::vector<std::string> names;
      names.reserve(diff.labels.size());
      for (const LabelChange& one : diff.labels) {
        names.push_back(one.label.empty() ? "(none)" : one.label);
      }
      return fail("there is no label '{}' in both profiles; {}", condition.subject,
                  names.empty() ? "they have none, or one" : "there are: " + vprof::listed(names));
    }
    figures = &label->figures;
  }
  const auto found = std::find_if(figures->begin(), figures->end(), [&](const FigureChange& one) {
    return one.name == condition.figure;
  });
  Verdict verdict;
  verdict.value = condition.is_ratio ? found->ratio : found->b;
  verdict.ci95 = found->ci95;
  for (double& end : verdict.ci95) {
    end *= condition.is_ratio ? 1 : found->a;
  }
  return verdict;
}

bool meets(double value, const Condition& condition) {
  return (condition.or_equal && value == condition.limit) ||
         (condition.greater ? value > condition.limit : value < condition.limit);
}

}  // namespace

Result<Condition> parse_condition(const std::string& text) {
  Condition condition;
  condition.text = trimmed(text);
  if (!read_condition(condition.text, condition)) {
    return fail(
        "'{}' is not a condition; write one like 'p99>1.1x' or 'mean>2ms', with mean, stddev, "
        "variance, p50, p95, p99, p99.9 or max; 'p99(LABEL)>1.1x' for one label; "
        "'share(FUNCTION)>10%' or 'change(FUNCTION)>5%' for a factor",
        text);
  }
  return condition;
}

Result<Verdict> judge(const Condition& condition, const Diff& diff, bool certainly) {
  Verdict verdict =
      VPROF_TRY(condition.of == ConditionOf::kLatency ? verdict_on_latency(condition, diff)
                                                      : verdict_on_factor(condition, diff));
  const bool known = verdict.ci95[0] != 0 || verdict.ci95[1] != 0;
  if (!certainly) {
    verdict.holds = meets(verdict.value, condition);
  } else {
    verdict.holds = known && meets(verdict.ci95[condition.greater ? 0 : 1], condition);
    if (!known && verdict.remark.empty()) {
      verdict.remark = "so it cannot hold for certain; record more, or choose another figure";
    }
  }
  return verdict;
}

}  // namespace vprof::analyzer
