// The timeline of one interval, as text and for trace viewers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "vprof/analyzer/timeline.h"
#include "vprof/report/report.h"

namespace vprof::report {

/// Rows with start, duration, thread and place. `all`: one for each piece; otherwise equal
/// neighbours and pieces shorter than 0.1 % of the latency are put together.
std::string text(const analyzer::Timeline& timeline, const TextOptions& options, bool all = false);

/// The same for programs, with each piece.
nlohmann::json json(const analyzer::Timeline& timeline);

/// The Trace Event Format, which Perfetto and Chrome open, with a row per thread.
nlohmann::json trace_events(const analyzer::Timeline& timeline);

}  // namespace vprof::report
