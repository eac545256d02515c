#include <fmt/format.h>

#include <algorithm>

#include "text/text_writer.h"
#include "vprof/report/diff.h"
#include "vprof/report/factor_words.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::Diff;
using analyzer::FactorChange;
using analyzer::FigureChange;
using analyzer::KindChange;

constexpr size_t kName = 10;
constexpr size_t kKindOfTime = 16;
constexpr size_t kValue = 12;
constexpr size_t kMostDiffLabels = 6;

std::string figure_line(const FigureChange& figure, bool ascii) {
  std::string line =
      "  " + pad(figure.name, kName) + pad(figure_text(figure, figure.a, ascii), kValue + 2) +
      pad(figure_text(figure, figure.b, ascii), kValue + 2) + ratio_text(figure.ratio);
  if (figure.ci95[1] > 0) {
    line = pad(line, kName + 2 * (kValue + 2) + 2 + 8) +
           fmt::format(" {} .. {}", ratio_text(figure.ci95[0]), ratio_text(figure.ci95[1]));
    if (figure.significant) {
      line += "  *";
    }
  }
  return line;
}

std::string name_of_factor(const FactorChange& factor) {
  return factor.functions.size() > 1 ? factor.functions[0] + "  with  " + factor.functions[1]
                                     : factor.functions[0];
}

/// `-21.3 %  *    ± 3.1`, of a factor or of a kind of time.
template <typename Change>
std::string change_text(const Change& one, const char* plus_minus) {
  const std::string head =
      fmt::format("{:+.1f} %{}", 100 * one.change, one.significant ? "  *" : "");
  const double reach = 100 * (one.ci95[1] - one.ci95[0]) / 2;
  return pad(head, kName + 4) +
         pad(reach > 0 ? fmt::format("{} {:.1f}", plus_minus, reach) : "", 10);
}

std::string factor_line(const FactorChange& factor, const char* plus_minus) {
  return "  " + change_text(factor, plus_minus) +
         std::string(2 * static_cast<size_t>(factor.depth), ' ') + name_of_factor(factor);
}

/// Of whether the intervals compute or wait: nothing if it is always the same.
void write_kinds(const std::vector<KindChange>& kinds, TextWriter& out) {
  if (kinds.size() < 2) {
    return;
  }
  out.blank_line();
  out.line("Kinds of time: mean, and what changed, as a part of the variance of A",
           Style::kHeading);
  out.line("  " + pad("", kKindOfTime) + pad("A", kValue) + pad("B", kValue) + "change",
           Style::kFaint);
  for (const KindChange& kind : kinds) {
    out.line("  " + pad(name_of(kind.kind), kKindOfTime) + pad(human_time(kind.mean_a_ns), kValue) +
                 pad(human_time(kind.mean_b_ns), kValue) + change_text(kind, out.plus_minus()),
             kind.significant ? Style::kMarked : Style::kPlain);
  }
}

/// A line per label and figure, for comparisons of few labels.
void write_diff_labels(const std::vector<analyzer::LabelChange>& labels, TextWriter& out) {
  for (size_t i = 0; i < std::min(labels.size(), kMostDiffLabels); ++i) {
    const analyzer::LabelChange& label = labels[i];
    out.line(fmt::format("  {}: A {}, B {}", label.label.empty() ? "(no label)" : label.label,
                         human_count(label.count_a), human_count(label.count_b)),
             Style::kFaint);
    for (const FigureChange& figure : label.figures) {
      if (figure.name == "mean" || figure.name == "p99") {
        out.line(figure_line(figure, out.ascii()));
      }
    }
  }
  if (labels.size() > kMostDiffLabels) {
    out.line(fmt::format("  {} more labels", labels.size() - kMostDiffLabels), Style::kFaint);
  }
}

/// Functions, with what is within them indented, then pairs.
void write_changes(const std::vector<FactorChange>& factors, TextWriter& out) {
  bool pairs = false;
  for (const FactorChange& factor : factors) {
    if (factor.kind == analyzer::FactorKind::kCovariance && !pairs) {
      out.line("  Together, within the changes of both:", Style::kFaint);
      pairs = true;
    }
    out.line(factor_line(factor, out.plus_minus()),
             factor.significant ? Style::kMarked : Style::kPlain);
  }
  const bool nested = std::any_of(factors.begin(), factors.end(),
                                  [](const FactorChange& one) { return one.depth > 0; });
  if (nested) {
    out.line("  An indented line is a part of the line above it.", Style::kFaint);
  }
}

}  // namespace

std::string text(const Diff& diff, const TextOptions& options) {
  TextWriter out(options);
  out.line(fmt::format("{}: A {}, B {} completed", diff.interval, human_count(diff.count_a),
                       human_count(diff.count_b)),
           Style::kHeading);
  out.line("  " + pad("", kName) + pad("A", kValue + 2) + pad("B", kValue + 2) + pad("B/A", 8) +
               " 95 % confidence",
           Style::kFaint);
  for (const FigureChange& figure : diff.figures) {
    out.line(figure_line(figure, out.ascii()));
  }
  write_diff_labels(diff.labels, out);
  write_kinds(diff.kinds, out);
  out.blank_line();
  out.line("What changed, as parts of the variance of A", Style::kHeading);
  if (diff.factors.empty()) {
    out.line("  Nothing changed by 1 % or more.");
  }
  write_changes(diff.factors, out);
  if (!diff.notes.empty()) {
    out.blank_line();
  }
  for (const std::string& note : without_repeats(diff.notes)) {
    out.item(note, Style::kWarning);
  }
  out.blank_line();
  out.paragraph(
      "* significant: chance within a run hardly explains it (equal programs, run alike: any star "
      "in "
      "5 % of comparisons at most). Other work on the machine may; runs of A and B in turn, "
      "merged, "
      "even that out",
      0, Style::kFaint);
  return out.take();
}

}  // namespace vprof::report
