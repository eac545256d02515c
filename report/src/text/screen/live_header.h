// The upper part of the screen of `vprof live`: how the program does, and what the search does.
#pragma once

#include "vprof/report/live_screen.h"

namespace vprof::report {

/// The first line: what is looked at, and for how long.
ScreenLine live_title(const LiveStatus& status, size_t columns);

/// At most `rows` lines below it, those that matter most.
std::vector<ScreenLine> live_header(const LiveStatus& status, size_t rows, size_t columns);

}  // namespace vprof::report
