// Text that fits a number of columns. Input and output are UTF-8; one code point counts as one
// column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vprof::report {

size_t columns(const std::string& text);

/// Cut at the end, with an ellipsis, to at most `width` columns.
std::string fit(const std::string& text, size_t width);

/// `a > b > c`, leaving out elements from the middle where it is too long: both ends matter most.
std::string fit_path(const std::vector<std::string>& path, size_t width);

/// Lines of at most `width` columns, broken at spaces, each with `indent` spaces before it and a
/// line feed after it.
std::string wrap(const std::string& text, size_t indent, size_t width);

std::string pad(const std::string& text, size_t width);

std::string human_time(double ns);        ///< `1.23 ms`
std::string human_count(uint64_t count);  ///< `1,234,567`
std::string percent(double part);         ///< `12.3 %`; `-0.5 %`
std::string plural(uint64_t count, const std::string& one, const std::string& many);

/// Of `width` columns, `part` (0..1) full, to an eighth of a column.
std::string bar(double part, size_t width);

enum class Style : uint8_t { kPlain, kHeading, kMarked, kFaint, kWarning };

/// With ANSI colours if asked for.
std::string paint(const std::string& text, Style style, bool color);

}  // namespace vprof::report
