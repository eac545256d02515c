// The figures of a comparison, and what came of its conditions, in words.
#include <fmt/format.h>

#include "text/layout.h"
#include "vprof/report/diff.h"
#include "vprof/support/text.h"

namespace vprof::report {

std::string ratio_text(double ratio) {
  return ratio < 0.1 ? fmt::format("{:.2g}x", ratio) : fmt::format("{:.2f}x", ratio);
}

std::string figure_text(const analyzer::FigureChange& figure, double value, bool ascii) {
  return figure.name == "variance" ? fmt::format("{:.4g} us{}", value / 1e6, ascii ? "^2" : "²")
                                   : human_time(value);
}

std::string value_text(const analyzer::Condition& condition, double value) {
  if (condition.is_ratio) {
    return ratio_text(value);
  }
  return condition.of == analyzer::ConditionOf::kLatency ? human_time(value) : percent(value);
}

std::string text(const Judged& judged) {
  const auto& [condition, verdict] = judged;
  std::string text = fmt::format("{}: {}", condition.text, value_text(condition, verdict.value));
  const bool known = verdict.ci95[0] != 0 || verdict.ci95[1] != 0;
  text += known ? fmt::format(" (95 % confidence {} to {})", value_text(condition, verdict.ci95[0]),
                              value_text(condition, verdict.ci95[1]))
                : " (no confidence interval)";
  return verdict.remark.empty() ? text : text + "; " + verdict.remark;
}

}  // namespace vprof::report
