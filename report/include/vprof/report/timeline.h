// One interval as it went, for people and for trace viewers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "vprof/analyzer/timeline.h"
#include "vprof/report/report.h"

namespace vprof::report {

/// A line per piece: when, how long, on which thread, what.
std::string text(const analyzer::Timeline& timeline, const TextOptions& options);

/// In the Trace Event Format, which Perfetto and Chrome open: a row per thread.
nlohmann::json json(const analyzer::Timeline& timeline);

}  // namespace vprof::report
