// A comparison of two profiles, as text, as JSON, for a pull request and for test reports.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "vprof/analyzer/diff.h"
#include "vprof/report/report.h"

namespace vprof::report {

/// A condition, and what came of it.
struct Judged {
  analyzer::Condition condition;
  analyzer::Verdict verdict;
};

/// The figures of A and B with their ratios, then the factors that changed.
std::string text(const analyzer::Diff& diff, const TextOptions& options);

/// The same with all digits, times in ns. Fields are added, never renamed.
nlohmann::json json(const analyzer::Diff& diff, const std::vector<Judged>& judged);

/// Markdown for a comment on a change: the conditions, the figures and the largest changes, in
/// tables. Long lists are cut, and their lines counted.
std::string markdown(const analyzer::Diff& diff, const std::vector<Judged>& judged);

/// JUnit XML: a test case for each condition, which fails if it holds.
std::string junit(const analyzer::Diff& diff, const std::vector<Judged>& judged);

/// `p99>1.1x: 1.42x (95 % confidence 1.20x to 1.68x)`
std::string text(const Judged& judged);

/// The figures of a condition: `1.42x`, `2.10 ms`, `12.3 %`.
std::string value_text(const analyzer::Condition& condition, double value);
std::string ratio_text(double ratio);
std::string figure_text(const analyzer::FigureChange& figure, double value, bool ascii);

}  // namespace vprof::report
