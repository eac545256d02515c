// The conditions of `vprof diff --fail-if`.
#include <algorithm>
#include <cmath>
#include <map>

#include "vprof/analyzer/diff.h"

namespace vprof::analyzer {
namespace {

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

Result<Condition> parse_condition(const std::string& text) {
  Condition condition;
  condition.text = text;
  const size_t at = text.find_first_of("<>");
  bool good = at != std::string::npos;
  if (good) {
    condition.figure = text.substr(0, at);
    const std::vector<FigureChange> names = diff({}, {}).figures;
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
    if (found->ci95[0] <= 0) {
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
