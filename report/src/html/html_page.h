// The page, bundled from report/html when the program is built.
#pragma once

#include <string_view>

namespace vprof::report {

/// One HTML file with a mark where the data go; empty if the build had no npm to bundle it.
std::string_view html_page();

}  // namespace vprof::report
