// Text that fits a number of columns. Input and output are UTF-8. East Asian wide characters take
// two columns and combining characters and escape sequences none, as on terminals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vprof/report/message.h"

namespace vprof::report {

size_t columns(std::string_view text);

/// The sign for what was left out: `…`, in ASCII `...`.
const char* ellipsis(bool ascii);

/// Cut at the end, with an ellipsis, to at most `width` columns.
std::string fit(const std::string& text, size_t width, bool ascii = false);

/// The same, cut in the middle: of a name, both ends matter most.
std::string fit_name(const std::string& text, size_t width, bool ascii = false);

/// `a > b > c`. If it is too long, elements in the middle are left out, `kept` last: the index of
/// what tells the path from others (0: the root does). The last one is whole if that is possible,
/// and otherwise cut in its middle.
std::string fit_path(const std::vector<std::string>& path, size_t width, bool ascii = false,
                     size_t kept = 0);

/// Every character that is not ASCII as one that looks like it, or as `?`.
std::string to_ascii(const std::string& text);

/// Lines of at most `width` columns, broken at spaces, each indented and ended by a line feed. A
/// word that is longer than a line goes on in the next one.
std::string wrap(const std::string& text, size_t indent, size_t width);

std::string pad(const std::string& text, size_t width);

std::string percent(double part);  ///< `12.3 %`; `-0.5 %`
std::string plural(uint64_t count, const std::string& one, const std::string& many);

/// A bar of `width` columns, of which `part` (0..1) is full, to an eighth of a column; in ASCII, to
/// a column.
std::string bar(double part, size_t width, bool ascii = false);

enum class Style : uint8_t { kPlain, kHeading, kMarked, kFaint, kWarning };

/// `text` in ANSI colours, if `color` is set.
std::string paint(const std::string& text, Style style, bool color);

}  // namespace vprof::report
