// How to lay out text for the terminal that standard output goes to.
#pragma once

#include "vprof/report/report.h"

namespace vprof::report {

/// The width is that of $COLUMNS or of the terminal, else the default. Colours only at a terminal,
/// and only without $NO_COLOR.
TextOptions text_options();

}  // namespace vprof::report
