// Timelines for the page.
#pragma once

#include "vprof/report/html.h"

namespace vprof::report {

/// Holds names and paths once each; pieces refer to them by number. Beyond 400 pieces, the shortest
/// are merged into the piece before on the same thread, and `cut` counts them.
nlohmann::json to_json(const SelectedTimeline& shown);

}  // namespace vprof::report
