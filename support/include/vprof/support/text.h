// Words for people: lists, counts, durations, and "did you mean".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vprof {

/// Damerau-Levenshtein distance (optimal string alignment): the number of insertions, deletions,
/// replacements and swaps of neighbours that turn `a` into `b`. Stops at `limit` and returns it if
/// the distance is not smaller.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit = SIZE_MAX);

/// The candidate nearest to `name`, or "" if none is near enough to have been meant.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// The text with `?` for each control character, and for each byte that is not UTF-8.
std::string printable(std::string_view text);

/// `a, b and c`.
std::string listed(const std::vector<std::string>& names, std::string_view last = "and");

/// `1 file`, `2 files`.
std::string counted(size_t count, const std::string& thing);

/// What follows the last `::` of a qualified C++ name, template arguments left alone: `method` of
/// `ns::Class<a::b>::method`.
std::string_view last_part(std::string_view name);

/// The lines of a text, without `\n` or `\r\n`.
std::vector<std::string> lines_of(std::string_view text);

/// Of lines that differ in nothing but numbers, the first one, which says how many more there are:
/// notes of several recordings that were merged.
std::vector<std::string> without_repeats(const std::vector<std::string>& lines);

/// A duration with three significant digits and its unit: `207 us`, `1.08 ms`, `2.5 s`.
/// @param ns nanoseconds, any sign
std::string human_time(double ns);

}  // namespace vprof
