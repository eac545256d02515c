// Distributions and single intervals for the page's plots.
#pragma once

#include <cstddef>
#include <vector>

#include "html/page_tree.h"
#include "vprof/report/html.h"

namespace vprof::report {

/// Functions whose time in each interval the page holds: those of the factors, as many as fit.
struct TimeColumns {
  std::vector<std::vector<uint32_t>> nodes;            ///< by column
  std::vector<std::vector<std::ptrdiff_t>> of_factor;  ///< columns of each function; -1: none
};

TimeColumns choose_columns(const std::vector<analyzer::Factor>& factors, const PageTree& tree);

/// Adds `bins`, `labels`, `periods`, `intervals`, `sampled` and `worst` to `data`; empty ones if
/// `details` is null.
void add_plots(const analyzer::Details* details, const PageTree& tree, const TimeColumns& columns,
               nlohmann::json& data);

}  // namespace vprof::report
