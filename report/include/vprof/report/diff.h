// A comparison of two profiles, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "vprof/analyzer/diff.h"
#include "vprof/report/report.h"

namespace vprof::report {

/// The figures of A and B with their ratios, then the factors that changed.
std::string text(const analyzer::Diff& diff, const TextOptions& options);

/// The same with all digits, times in ns. Fields are added, never renamed.
nlohmann::json json(const analyzer::Diff& diff);

}  // namespace vprof::report
