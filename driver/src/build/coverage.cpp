#include "build/coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using nlohmann::json;
using Counts = std::vector<std::pair<std::string, size_t>>;  // largest first

Counts counts(const json& summary, const char* group, const char* name) {
  Counts result;
  const json all = summary.value(group, json::object()).value(name, json::object());
  for (const auto& [what, count] : all.items()) {
    result.emplace_back(what, count.get<size_t>());
  }
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

std::string coverage_in_short(const json& summary) {
  const size_t measured = sum(counts(summary, "calls", "measured"));
  const size_t impossible = sum(counts(summary, "calls", "not_possible"));
  std::string line = fmt::format("{} measured", counted(measured, "call"));
  if (impossible > 0) {
    line += fmt::format(", {} not possible (`vprof instrument --dry-run` says why)", impossible);
  }
  return line;
}

std::vector<std::string> coverage_in_full(const json& summary) {
  const Counts measured = counts(summary, "calls", "measured");
  const Counts by_rule = counts(summary, "calls", "by_rule");
  const Counts impossible = counts(summary, "calls", "not_possible");
  const Counts refused = counts(summary, "functions", "not_possible");
  const size_t functions = summary.value("functions", json::object()).value("measured", size_t{0});
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
  const json failed = summary.value("units_failed", json::array());
  if (!failed.empty()) {
    lines.push_back("not instrumented, because Clang could not parse them:");
    for (const json& unit : failed) {
      lines.push_back(fmt::format("  {}: {}", unit.value("file", ""), unit.value("error", "")));
    }
  }
  return lines;
}

}  // namespace vprof::driver
