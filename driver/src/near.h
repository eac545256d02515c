// "Did you mean": names that differ from what was typed by little.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vprof::driver {

/// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest of `candidates`, or "" if none is near enough to have been meant.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// `a, b and c`.
std::string listed(const std::vector<std::string>& names, std::string_view last = "and");

/// `1 file`, `2 files`.
std::string counted(size_t count, const std::string& thing);

}  // namespace vprof::driver
