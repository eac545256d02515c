// A comparison as a comment on a pull request.
#include <fmt/format.h>

#include <algorithm>

#include "vprof/report/diff.h"
#include "vprof/report/factor_words.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::Diff;
using analyzer::FactorChange;
using analyzer::FigureChange;

constexpr size_t kMostMarkdownFactors = 15;
constexpr size_t kMostMarkdownLabels = 10;

/// A name in a table: as code, in which only the bar that ends a cell, and backquotes, mean
/// anything.
std::string markdown_code(const std::string& name) {
  std::string safe;
  for (const char c : name) {
    safe += c == '|' ? "\\|" : c == '`' ? "'" : std::string(1, c);
  }
  return "`" + safe + "`";
}

std::string markdown_confidence(const FigureChange& figure) {
  return figure.ci95[1] > 0
             ? fmt::format("{} to {}", ratio_text(figure.ci95[0]), ratio_text(figure.ci95[1]))
             : "";
}

std::string bold_if(bool bold, const std::string& text) { return bold ? "**" + text + "**" : text; }

std::string markdown_figure_row(const FigureChange& figure, const std::string& name) {
  return fmt::format("| {} | {} | {} | {} | {} |\n", name, figure_text(figure, figure.a, false),
                     figure_text(figure, figure.b, false),
                     bold_if(figure.significant, ratio_text(figure.ratio)),
                     markdown_confidence(figure));
}

const FigureChange& figure_named(const std::vector<FigureChange>& figures, const char* name) {
  return *std::find_if(figures.begin(), figures.end(),
                       [&](const FigureChange& one) { return one.name == name; });
}

std::string markdown_headline(const Diff& diff, const std::vector<Judged>& judged) {
  const FigureChange& p99 = figure_named(diff.figures, "p99");
  const auto failed = std::count_if(judged.begin(), judged.end(),
                                    [](const Judged& one) { return one.verdict.holds; });
  const std::string verdict =
      judged.empty() ? ""
      : failed == 0  ? " — passed"
                     : fmt::format(" — {} of {} conditions failed", failed, judged.size());
  return fmt::format("### Latency of {}: p99 {} → {} ({}){}\n\n", markdown_code(diff.interval),
                     human_time(p99.a), human_time(p99.b), ratio_text(p99.ratio), verdict);
}

std::string markdown_conditions(const std::vector<Judged>& judged) {
  std::string text;
  for (const Judged& one : judged) {
    text += fmt::format(
        "- {} {}\n", one.verdict.holds ? "❌" : "✅",
        markdown_code(one.condition.text) + report::text(one).substr(one.condition.text.size()));
  }
  return text.empty() ? text : "Fails if:\n\n" + text + "\n";
}

std::string markdown_figures(const Diff& diff) {
  std::string text = "| | before | after | ratio | 95 % confidence |\n|---|---:|---:|---:|---|\n";
  for (const FigureChange& figure : diff.figures) {
    text += markdown_figure_row(figure, figure.name);
  }
  for (size_t i = 0; i < std::min(diff.labels.size(), kMostMarkdownLabels); ++i) {
    const analyzer::LabelChange& label = diff.labels[i];
    const std::string name = label.label.empty() ? "(no label)" : markdown_code(label.label);
    for (const char* figure : {"mean", "p99"}) {
      text += markdown_figure_row(figure_named(label.figures, figure),
                                  fmt::format("{} of {}", figure, name));
    }
  }
  return text + "\n";
}

std::string name_of_change(const FactorChange& factor) {
  const std::string name = markdown_code(factor.functions[0]);
  return factor.functions.size() > 1 ? name + " with " + markdown_code(factor.functions[1]) : name;
}

template <typename Change>
std::string markdown_change(const Change& one) {
  const double reach = 100 * (one.ci95[1] - one.ci95[0]) / 2;
  return fmt::format("{} | {}",
                     bold_if(one.significant, fmt::format("{:+.1f} %", 100 * one.change)),
                     reach > 0 ? fmt::format("{:.1f}", reach) : "");
}

std::string markdown_kinds(const Diff& diff) {
  if (diff.kinds.size() < 2) {
    return "";
  }
  std::string text =
      "| kind of time | mean before | after | change of the variance | ± |\n"
      "|---|---:|---:|---:|---:|\n";
  for (const analyzer::KindChange& kind : diff.kinds) {
    text += fmt::format("| {} | {} | {} | {} |\n", name_of(kind.kind), human_time(kind.mean_a_ns),
                        human_time(kind.mean_b_ns), markdown_change(kind));
  }
  return text + "\n";
}

std::string markdown_factors(const Diff& diff) {
  if (diff.factors.empty()) {
    return "No factor changed by 1 % of the variance or more.\n\n";
  }
  std::string text = "| change of the variance | ± | factor |\n|---:|---:|---|\n";
  const size_t shown = std::min(diff.factors.size(), kMostMarkdownFactors);
  for (size_t i = 0; i < shown; ++i) {
    const FactorChange& factor = diff.factors[i];
    std::string depth;
    for (int level = 0; level < factor.depth; ++level) {
      depth += "&emsp;";
    }
    text += fmt::format("| {} | {}{} |\n", markdown_change(factor), depth, name_of_change(factor));
  }
  if (diff.factors.size() > shown) {
    text += fmt::format("| | | {} more |\n", diff.factors.size() - shown);
  }
  return text + "\n";
}

std::string markdown_notes(const Diff& diff) {
  std::string text =
      "Changes are parts of the variance before: those of kinds of time add up to its change, and "
      "an indented factor is a part of the one above it. Bold: more than chance within a "
      "run. Equal programs, run alike, show anything bold in 5 % of comparisons at most.\n";
  for (const std::string& note : without_repeats(diff.notes)) {
    text += "- " + note + "\n";
  }
  return text;
}

}  // namespace

std::string markdown(const Diff& diff, const std::vector<Judged>& judged) {
  return markdown_headline(diff, judged) + markdown_conditions(judged) + markdown_figures(diff) +
         "<details><summary>What changed</summary>\n\n" + markdown_kinds(diff) +
         markdown_factors(diff) + markdown_notes(diff) +
         fmt::format("\n{} and {} intervals, compared by vprof.\n\n</details>\n", diff.count_a,
                     diff.count_b);
}

}  // namespace vprof::report
