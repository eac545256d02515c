// Stands in for the page in builds without npm.
#include "html/html_page.h"

namespace vprof::report {

std::string_view html_page() { return {}; }

}  // namespace vprof::report
