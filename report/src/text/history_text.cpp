// How the search went, for `vprof history`.
#include <fmt/format.h>

#include <cmath>

#include "text/layout.h"
#include "vprof/report/report.h"

namespace vprof::report {
namespace {

std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) {
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

std::string heading(size_t number, const Iteration& one) {
  std::string text = fmt::format("iteration {}: ", number);
  text += one.expanded.empty() ? "measured again" : "expanded " + joined(one.expanded);
  if (one.demoted != 0) {
    text += fmt::format(", left out {}", plural(one.demoted, "call site", "call sites"));
  }
  return text;
}

std::string figures(const Iteration& one) {
  std::string text =
      fmt::format("{}, built in {:.1f} s", plural(one.sites, "site", "sites"), one.build_s);
  if (one.mean_ns <= 0) {
    return text + "; not measured yet";
  }
  text += fmt::format(", ran {:.1f} s; mean {}, stddev {}", one.run_s, human_time(one.mean_ns),
                      human_time(std::sqrt(one.variance_ns2)));
  if (one.mean_ratio > 0) {
    text += fmt::format("; {:.2f} times the mean and {:.2f} times the variance without recording",
                        one.mean_ratio, one.variance_ratio);
  }
  return text;
}

}  // namespace

std::string history_text(const std::vector<Iteration>& iterations, const TextOptions& options) {
  const auto width = static_cast<size_t>(options.width);
  std::string text;
  for (size_t i = 0; i < iterations.size(); ++i) {
    const Iteration& one = iterations[i];
    if (i != 0) {
      text += "\n";
    }
    text += paint(wrap(heading(i + 1, one), 0, width), Style::kHeading, options.color);
    text += wrap(figures(one), 2, width);
    for (size_t rank = 0; rank < one.leading.size(); ++rank) {
      text += wrap(fmt::format("{}. {}: {} of the variance", rank + 1, one.leading[rank].factor,
                               percent(one.leading[rank].contribution)),
                   2, width);
    }
    if (!one.selected.empty()) {
      text += wrap("accepted: " + joined(one.selected), 2, width);
    }
    if (!one.set_aside.empty()) {
      text += wrap("set aside: " + joined(one.set_aside), 2, width);
    }
  }
  return text;
}

}  // namespace vprof::report
