// Source with costs as the page holds it.
#pragma once

#include <nlohmann/json.hpp>

#include "vprof/report/html.h"

namespace vprof::report {

/// Of a function of more than 120 lines: its begin and what is around its measured calls, those
/// with the largest shares first.
///
/// - `parts`: {first, lines} of each run of lines; `first` and `last` are those of the function.
/// - `calls`: [line, callee, calls, mean, standard deviation, share], beside the lines.
/// - `rest`: [what, place, calls, mean, standard deviation, share] of what is in none of them.
/// - `notes`: what is to be said above the lines, and `notes_below`.
nlohmann::json page_sources(const std::vector<SourceText>& sources);

}  // namespace vprof::report
