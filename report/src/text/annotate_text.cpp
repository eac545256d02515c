#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "text/text_writer.h"
#include "vprof/report/annotate.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::CallCost;
using analyzer::PlaceCost;

constexpr double kMarked = 0.05;      // share of a call that is marked
constexpr double kLeastBlame = 0.01;  // part of a mean
constexpr size_t kTab = 4;
constexpr size_t kMostUnmeasured = 5;

std::string number(double value) {
  return value == 0      ? ""
         : value < 0.005 ? "<0.01"
                         : fmt::format("{:.{}f}", value, value < 100 ? 2 : 0);
}

std::string figures_of(const std::string& calls, const std::string& mean, const std::string& stddev,
                       const std::string& share) {
  return fmt::format("{:>8} {:>9} {:>9} {:>8}", calls, mean, stddev, share);
}

std::string figures_of(double calls, const PlaceCost& cost) {
  if (cost.count == 0) {
    return figures_of(number(calls), calls == 0 ? "-" : human_time(0), "", "");
  }
  return figures_of(number(calls), human_time(cost.mean_ns), human_time(cost.stddev_ns),
                    percent(cost.share));
}

/// With tabs as spaces.
std::string expanded(const std::string& line) {
  std::string text;
  for (const char c : line) {
    if (c == '\t') {
      text.append(kTab - text.size() % kTab, ' ');
    } else {
      text += c;
    }
  }
  return text;
}

class AnnotateText {
 public:
  AnnotateText(const AnnotatedFunction& function, const TextOptions& options)
      : function_(function), out_(options) {
    for (const CallCost& call : function.costs.sites) {
      if (call.file == function.file && call.line >= function.first &&
          call.line < function.first + function.lines.size()) {
        by_line_[call.line].push_back(&call);
      } else {
        elsewhere_.push_back(&call);
      }
    }
  }

  std::string run() {
    head();
    out_.line(" " + figures_of("calls", "mean", "stddev", "share") + "  line", Style::kHeading);
    for (size_t i = 0; i < function_.lines.size(); ++i) {
      line(function_.first + static_cast<uint32_t>(i), expanded(function_.lines[i]),
           function_.lines[i]);
    }
    rest();
    return out_.take();
  }

 private:
  void head() {
    const analyzer::FunctionCosts& costs = function_.costs;
    const PlaceCost& whole = costs.whole;
    out_.line(fmt::format("{}  {}:{}", function_.name, function_.file, function_.first),
              Style::kHeading);
    if (function_.changed) {
      out_.paragraph(fmt::format("{} has been edited since: this is the text that was measured",
                                 function_.file),
                     2, Style::kWarning);
    }
    if (!function_.recorded) {
      out_.paragraph(
          "not measured in the last recording, so its time is in the functions that called it", 2);
      return;
    }
    if (whole.count == 0) {
      out_.paragraph(fmt::format("on no critical path of {} intervals '{}'",
                                 human_count(costs.intervals), costs.interval),
                     2);
      return;
    }
    const std::string calls =
        costs.calls == 0 ? "" : fmt::format(", {} calls per interval", number(costs.calls));
    out_.paragraph(
        fmt::format("mean {}, standard deviation {}, {} of the variance; in {} of {} intervals "
                    "'{}'{}",
                    human_time(whole.mean_ns), human_time(whole.stddev_ns), percent(whole.share),
                    human_count(whole.count), human_count(costs.intervals), costs.interval, calls),
        2);
    if (whole.blame_mean_ns >= kLeastBlame * whole.mean_ns) {
      out_.paragraph(fmt::format("{} of the mean is blame: other work waited for it",
                                 human_time(whole.blame_mean_ns)),
                     2);
    }
    if (!function_.measured) {
      out_.paragraph(
          fmt::format("its calls are not measured; `vprof loop` does so where that may explain "
                      "something, `vprof instrument --expand {}` in any case",
                      function_.name),
          2);
    }
  }

  void row(const std::string& figures, const std::string& what, double share) {
    const bool marked = std::abs(share) >= kMarked;
    out_.line((marked ? ">" : " ") + figures + what, marked ? Style::kMarked : Style::kPlain);
  }

  void line(uint32_t number_of_line, const std::string& text, const std::string& original) {
    const std::string place = fmt::format("  {:>5}  {}", number_of_line, text);
    const auto found = by_line_.find(number_of_line);
    if (found == by_line_.end()) {
      return row(figures_of("", "", "", ""), place, 0);
    }
    const std::vector<const CallCost*>& calls = found->second;
    if (calls.size() == 1) {
      return row(figures_of(calls[0]->calls, calls[0]->cost), place, calls[0]->cost.share);
    }
    row(figures_of("", "", "", ""), place, 0);
    for (const CallCost* call : calls) {
      const std::string before = expanded(
          original.substr(0, std::min<size_t>(std::max(call->column, 1u) - 1, original.size())));
      row(figures_of(call->calls, call->cost),
          fmt::format("         {}^ {}", std::string(columns(before), ' '), call->callee),
          call->cost.share);
    }
  }

  void rest() {
    if (function_.costs.own.count != 0) {
      row(figures_of(0, function_.costs.own), "         (own time)", function_.costs.own.share);
    }
    for (const CallCost* call : elsewhere_) {
      if (call->cost.count == 0 && call->calls == 0) {
        continue;
      }
      const std::string place =
          call->line == 0 ? "" : fmt::format("  {}:{}", call->file, call->line);
      row(figures_of(call->calls, call->cost), fmt::format("         {}{}", call->callee, place),
          call->cost.share);
    }
    const size_t count = function_.unmeasured.size();
    for (size_t i = 0; i < std::min(count, kMostUnmeasured); ++i) {
      const UnmeasuredCall& call = function_.unmeasured[i];
      out_.paragraph(fmt::format("not measured: {} at {}:{}: {}", call.callee, call.file, call.line,
                                 call.reason),
                     2, Style::kFaint);
    }
    if (count > kMostUnmeasured) {
      out_.paragraph(fmt::format("{} more are not measured; `vprof graph {}` says why",
                                 count - kMostUnmeasured, function_.name),
                     2, Style::kFaint);
    }
  }

  const AnnotatedFunction& function_;
  std::map<uint32_t, std::vector<const CallCost*>> by_line_;
  std::vector<const CallCost*> elsewhere_;
  TextWriter out_;
};

}  // namespace

std::string text(const AnnotatedFunction& function, const TextOptions& options) {
  return AnnotateText(function, options).run();
}

}  // namespace vprof::report
