// What measuring cost and changed, in words.
#pragma once

#include "vprof/report/report.h"

namespace vprof::report {

/// Paragraphs: the cost, and what was left out of the plan to keep it within the budget.
std::vector<std::string> overhead_lines(const analyzer::Profile& profile, const Story& story);

}  // namespace vprof::report
