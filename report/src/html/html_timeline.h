// A timeline for the page.
#pragma once

#include "vprof/report/html.h"

namespace vprof::report {

/// Names and paths once each, pieces as numbers into them. Of more than 400 pieces the shortest are
/// joined to the ones before them on the same thread; `cut` says how many.
nlohmann::json to_json(const ShownTimeline& shown);

}  // namespace vprof::report
