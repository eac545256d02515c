// Parts of messages as the report has them. Colours only if the file descriptor is a terminal that
// knows them, and without $NO_COLOR. Elsewhere the text stays as it is.
#pragma once

#include <cstdint>
#include <string>

namespace vprof::report {

std::string human_count(uint64_t count);  ///< `1,234,567`

std::string heading(const std::string& text, int descriptor);
std::string marked(const std::string& text, int descriptor);   ///< look here
std::string faint(const std::string& text, int descriptor);    ///< less important
std::string warning(const std::string& text, int descriptor);  ///< something is not as it should be

}  // namespace vprof::report
