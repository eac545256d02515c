// The variance tree as the page holds it.
#pragma once

#include <nlohmann/json.hpp>

#include "html/page_tree.h"
#include "vprof/report/html.h"

namespace vprof::report {

/// A list per field, by number of the node: a tenth of what an object per node would take. Names,
/// call sites and definitions are numbers of `texts`; kinds of `kinds`.
nlohmann::json page_nodes(const PageTree& tree);

/// The steps on the paths of timelines: `parent`, `name`, `kind`, and the `node` of the tree, -1 if
/// it is not certain.
nlohmann::json page_places(const PageTimelines& timelines, const PageTree& tree);

}  // namespace vprof::report
