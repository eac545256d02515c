#include "build/coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using instrumenter::Summary;
using Counts = std::vector<std::pair<std::string, size_t>>;  // largest first

Counts most_first(const Summary::Counts& counts) {
  Counts result(counts.begin(), counts.end());
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return result;
}

size_t sum(const Counts& counts) {
  size_t all = 0;
  for (const auto& [what, count] : counts) {
    all += count;
  }
  return all;
}

std::string rules(const Counts& measured) {
  std::vector<std::string> parts;
  for (const auto& [rule, count] : measured) {
    parts.push_back(fmt::format("{} {}", count, rule));
  }
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

void list(std::vector<std::string>& lines, const Counts& reasons) {
  for (const auto& [why, count] : reasons) {
    lines.push_back(fmt::format("  {:>7}  {}", count, why));
  }
}

double percent(size_t part, size_t whole) {
  return whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string coverage_in_short(const Summary& summary) {
  const size_t measured = sum(most_first(summary.calls.measured));
  const size_t impossible = sum(most_first(summary.calls.not_possible));
  std::string line = fmt::format("{} measured", counted(measured, "call"));
  if (impossible > 0) {
    line += fmt::format(", {} not possible (`vprof instrument --dry-run` says why)", impossible);
  }
  return line;
}

std::vector<std::string> coverage_in_full(const Summary& summary) {
  const Counts measured = most_first(summary.calls.measured);
  const Counts by_rule = most_first(summary.calls.by_rule);
  const Counts impossible = most_first(summary.calls.not_possible);
  const Counts refused = most_first(summary.functions.not_possible);
  const size_t functions = summary.functions.measured;
  const size_t calls = sum(measured);
  const size_t wanted = calls + sum(impossible);

  std::vector<std::string> lines;
  lines.push_back(fmt::format("functions measured: {} of {}", functions, functions + sum(refused)));
  list(lines, refused);
  lines.push_back(fmt::format("calls measured: {} of {}, {:.1f} %{}", calls, wanted,
                              percent(calls, wanted), rules(measured)));
  list(lines, impossible);
  if (!by_rule.empty()) {
    lines.push_back(fmt::format("calls left alone by rule: {}", sum(by_rule)));
    list(lines, by_rule);
  }
  if (!summary.units_failed.empty()) {
    lines.push_back("not instrumented, because Clang could not parse them:");
    for (const Summary::FailedUnit& unit : summary.units_failed) {
      lines.push_back(fmt::format("  {}: {}", unit.file, unit.error));
    }
  }
  return lines;
}

}  // namespace vprof::driver
