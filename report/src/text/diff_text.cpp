// Two profiles side by side.
#include <fmt/format.h>

#include "json/names.h"
#include "text/layout.h"
#include "vprof/report/diff.h"

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

std::string ratio_of(double ratio) { return fmt::format("{:.2f}x", ratio); }

std::string figure_line(const FigureChange& figure) {
  std::string line = "  " + pad(figure.name, kName) + pad(value_of(figure, figure.a), kValue + 2) +
                     pad(value_of(figure, figure.b), kValue + 2) + pad(ratio_of(figure.ratio), 8);
  if (figure.ci95[1] > 0) {
    line += fmt::format(" {} .. {}", ratio_of(figure.ci95[0]), ratio_of(figure.ci95[1]));
    if (figure.ci95[0] > 1 || figure.ci95[1] < 1) {
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
         name_of_factor(factor);
}

}  // namespace

std::string text(const Diff& diff, const TextOptions& options) {
  const auto width = static_cast<size_t>(std::max(options.width, 40));
  std::string out;
  const auto line = [&](const std::string& text, Style style) {
    out += paint(fit(text, width), style, options.color) + "\n";
  };
  line(fmt::format("{}: A {}, B {} completed", diff.interval, human_count(diff.count_a),
                   human_count(diff.count_b)),
       Style::kHeading);
  line("  " + pad("", kName) + pad("A", kValue + 2) + pad("B", kValue + 2) + pad("B/A", 8) +
           " 95 % confidence",
       Style::kFaint);
  for (const FigureChange& figure : diff.figures) {
    line(figure_line(figure), Style::kPlain);
  }
  out += "\n";
  line("What changed, in parts of the variance of A", Style::kHeading);
  if (diff.factors.empty()) {
    line("  Nothing by 1 % or more.", Style::kPlain);
  }
  for (const FactorChange& factor : diff.factors) {
    line(factor_line(factor), factor.significant ? Style::kMarked : Style::kPlain);
  }
  if (!diff.notes.empty()) {
    out += "\n";
  }
  for (const std::string& note : diff.notes) {
    std::string wrapped = wrap(note, 4, width);
    wrapped[2] = '-';
    out += paint(wrapped, Style::kWarning, options.color);
  }
  out += "\n" + paint(wrap("* certain: the 95 % confidence interval does not hold \"no change\"", 0,
                           width),
                      Style::kFaint, options.color);
  return out;
}

nlohmann::json json(const Diff& diff) {
  nlohmann::json figures = nlohmann::json::array();
  for (const FigureChange& figure : diff.figures) {
    figures.push_back({{"figure", figure.name},
                       {"a", figure.a},
                       {"b", figure.b},
                       {"ratio", figure.ratio},
                       {"ci95", figure.ci95}});
  }
  nlohmann::json factors = nlohmann::json::array();
  for (const FactorChange& factor : diff.factors) {
    factors.push_back({{"kind", name_of(factor.kind)},
                       {"functions", factor.functions},
                       {"a_ns2", factor.a},
                       {"b_ns2", factor.b},
                       {"change", factor.change},
                       {"ci95", factor.ci95},
                       {"significant", factor.significant}});
  }
  return {{"schema", 1},
          {"interval", diff.interval},
          {"count_a", diff.count_a},
          {"count_b", diff.count_b},
          {"figures", std::move(figures)},
          {"factors", std::move(factors)},
          {"notes", diff.notes}};
}

}  // namespace vprof::report
