// What measuring costs and changes, in words.
#pragma once

#include "vprof/report/report.h"

namespace vprof::report {

/// Paragraphs: the cost, then the calls left out of the plan to keep it within the budget.
std::vector<std::string> overhead_lines(const analyzer::Profile& profile,
                                        const ReportContext& context);

}  // namespace vprof::report
