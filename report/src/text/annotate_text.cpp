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

constexpr double kMarked = 0.05;  // share of a call that is marked
constexpr size_t kTab = 4;

std::string figures_of(const std::string& calls, const std::string& mean, const std::string& stddev,
                       const std::string& share) {
  return fmt::format("{:>8} {:>9} {:>9} {:>8}", calls, mean, stddev, share);
}

std::string figures_of(double calls, const PlaceCost& cost) {
  if (cost.count == 0) {
    return figures_of(calls_text(calls), calls == 0 ? "-" : human_time(0), "", "");
  }
  return figures_of(calls_text(calls), human_time(cost.mean_ns), human_time(cost.stddev_ns),
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
      if (is_in_lines(call, function)) {
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
    out_.line(fmt::format("{}  {}:{}", function_.name, function_.file, function_.first),
              Style::kHeading);
    if (const std::string note = note_on_text(function_); !note.empty()) {
      out_.paragraph(note, 2, Style::kWarning);
    }
    for (const std::string& note : notes_on_costs(function_)) {
      out_.paragraph(note, 2);
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
    for (const std::string& note : notes_on_unmeasured(function_)) {
      out_.paragraph(note, 2, Style::kFaint);
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
