// The ranked factors of a report as text.
#pragma once

#include "text/text_writer.h"

namespace vprof::report {

/// A few lines for each factor: bar and figures, name, largest place, shares. A `>` marks the
/// first k that reach the threshold; those also name intervals to look at.
void write_factors(const analyzer::Profile& profile, TextWriter& out);

}  // namespace vprof::report
