// The timeline of one interval, as text and for trace viewers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "vprof/analyzer/timeline.h"
#include "vprof/report/report.h"

namespace vprof::report {

/// A line per piece: start, duration, thread, place.
std::string text(const analyzer::Timeline& timeline, const TextOptions& options);

/// The Trace Event Format, which Perfetto and Chrome open, with a row per thread.
nlohmann::json json(const analyzer::Timeline& timeline);

}  // namespace vprof::report
