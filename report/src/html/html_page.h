// The page, bundled from report/html when the program is built.
#pragma once

#include <string_view>

namespace vprof::report {

/// One HTML file with a mark where the data go; empty if npm was not there to bundle it.
std::string_view html_page();

}  // namespace vprof::report
