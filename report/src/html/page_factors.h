// The factors as the page holds them.
#pragma once

#include <nlohmann/json.hpp>

#include "html/page_intervals.h"

namespace vprof::report {

/// `written`: `factors` of report.json. Places become numbers of nodes where the tree has them,
/// numbers have six digits, and what the page does not show is left out: a large program has
/// thousands of factors.
nlohmann::json page_factors(const nlohmann::json& written,
                            const std::vector<analyzer::Factor>& factors, const PageTree& tree,
                            const TimeColumns& columns);

}  // namespace vprof::report
