// What is said about an annotated function beside its lines, in the terminal and in the page.
#include <fmt/format.h>

#include <algorithm>

#include "text/layout.h"
#include "vprof/report/annotate.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

constexpr double kLeastBlame = 0.01;  // part of a mean
constexpr size_t kMostUnmeasured = 5;

}  // namespace

bool is_in_lines(const analyzer::CallCost& call, const AnnotatedFunction& function) {
  return !function.outdated && call.file == function.file && call.line >= function.first &&
         call.line < function.first + function.lines.size();
}

std::string calls_text(double calls) {
  return calls == 0      ? ""
         : calls < 0.005 ? "<0.01"
                         : fmt::format("{:.{}f}", calls, calls < 100 ? 2 : 0);
}

std::string note_on_text(const AnnotatedFunction& function) {
  if (function.lines.empty()) {
    return fmt::format("{} is gone, so its lines are not shown", function.file);
  }
  if (function.outdated) {
    return fmt::format(
        "{} has been edited since, and vprof has taken over the new text: these are not the lines "
        "that were measured",
        function.file);
  }
  return function.changed
             ? fmt::format("{} has been edited since: this is the text that was measured",
                           function.file)
             : "";
}

std::vector<std::string> notes_on_costs(const AnnotatedFunction& function) {
  const analyzer::FunctionCosts& costs = function.costs;
  const analyzer::PlaceCost& whole = costs.whole;
  if (!function.recorded) {
    return {"not measured in the last recording, so its time is in the functions that called it"};
  }
  if (whole.count == 0 && !function.why_calls_unmeasured.empty()) {
    return {
        fmt::format("calls of it are not measured ({}), so its time is in the functions that "
                    "make them",
                    function.why_calls_unmeasured)};
  }
  if (whole.count == 0) {
    return {fmt::format("on no critical path of {} intervals '{}'", human_count(costs.intervals),
                        costs.interval)};
  }
  const std::string calls =
      costs.calls == 0 ? "" : fmt::format(", {} calls per interval", calls_text(costs.calls));
  std::vector<std::string> notes = {fmt::format(
      "mean {}, standard deviation {}, {} of the variance; in {} of {} intervals '{}'{}",
      human_time(whole.mean_ns), human_time(whole.stddev_ns), percent(whole.share),
      human_count(whole.count), human_count(costs.intervals), costs.interval, calls)};
  if (whole.blame_mean_ns >= kLeastBlame * whole.mean_ns) {
    notes.push_back(fmt::format("{} of the mean is blame: other work waited for it",
                                human_time(whole.blame_mean_ns)));
  }
  if (!function.measured) {
    notes.push_back(
        fmt::format("its calls are not measured; `vprof loop` does so where that may explain "
                    "something, `vprof instrument --expand {}` in any case",
                    function.name));
  }
  return notes;
}

std::vector<std::string> notes_on_unmeasured(const AnnotatedFunction& function) {
  std::vector<std::string> notes;
  const size_t count = function.unmeasured.size();
  for (size_t i = 0; i < std::min(count, kMostUnmeasured); ++i) {
    const UnmeasuredCall& call = function.unmeasured[i];
    notes.push_back(fmt::format("not measured: {} at {}:{}: {}", call.callee, call.file, call.line,
                                call.reason));
  }
  if (count > kMostUnmeasured) {
    notes.push_back(fmt::format("{} more are not measured; `vprof graph {}` says why",
                                count - kMostUnmeasured, function.name));
  }
  return notes;
}

}  // namespace vprof::report
