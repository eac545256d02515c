#include <fmt/format.h>

#include <algorithm>

#include "text/text_writer.h"
#include "vprof/report/diff.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::Diff;
using analyzer::FactorChange;
using analyzer::FigureChange;

constexpr size_t kName = 10;
constexpr size_t kValue = 12;

std::string value_of(const FigureChange& figure, double value) {
  return figure.name == "variance" ? fmt::format("{:.4g} us²", value / 1e6) : human_time(value);
}

std::string ratio_of(double ratio) {
  return ratio < 0.1 ? fmt::format("{:.2g}x", ratio) : fmt::format("{:.2f}x", ratio);
}

std::string figure_line(const FigureChange& figure) {
  std::string line = "  " + pad(figure.name, kName) + pad(value_of(figure, figure.a), kValue + 2) +
                     pad(value_of(figure, figure.b), kValue + 2) + pad(ratio_of(figure.ratio), 8);
  if (figure.ci95[1] > 0) {
    line += fmt::format(" {} .. {}", ratio_of(figure.ci95[0]), ratio_of(figure.ci95[1]));
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

std::string factor_line(const FactorChange& factor) {
  const std::string head =
      fmt::format("{:+.1f} %{}", 100 * factor.change, factor.significant ? "  *" : "");
  const double reach = 100 * (factor.ci95[1] - factor.ci95[0]) / 2;
  return "  " + pad(head, kName + 4) + pad(reach > 0 ? fmt::format("± {:.1f}", reach) : "", 10) +
         std::string(2 * static_cast<size_t>(factor.depth), ' ') + name_of_factor(factor);
}

/// Functions, with what is within them indented, then pairs.
void write_changes(const std::vector<FactorChange>& factors, TextWriter& out) {
  bool pairs = false;
  for (const FactorChange& factor : factors) {
    if (factor.kind == analyzer::FactorKind::kCovariance && !pairs) {
      out.line("  Together, within the changes of both:", Style::kFaint);
      pairs = true;
    }
    out.line(factor_line(factor), factor.significant ? Style::kMarked : Style::kPlain);
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
    out.line(figure_line(figure));
  }
  out.blank_line();
  out.line("What changed, as parts of the variance of A", Style::kHeading);
  if (diff.factors.empty()) {
    out.line("  Nothing changed by 1 % or more.");
  }
  write_changes(diff.factors, out);
  if (!diff.notes.empty()) {
    out.blank_line();
  }
  for (const std::string& note : diff.notes) {
    out.item(note, Style::kWarning);
  }
  out.blank_line();
  out.paragraph("* significant: equal programs show any star in 5 % of comparisons at most", 0,
                Style::kFaint);
  return out.take();
}

}  // namespace vprof::report
