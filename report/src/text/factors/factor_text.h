// The ranked factors of a report as text.
#pragma once

#include "text/text_writer.h"

namespace vprof::report {

/// A few lines for each factor: bar and figures, name, largest place, shares. A `>` marks those to
/// look at first, which also name intervals; below the list is how much they explain together.
void write_factors(const analyzer::Profile& profile, TextWriter& out);

/// How much of the variance the marked factors hold together, and what may be said about the rest.
std::string explained(const analyzer::Profile& profile);

}  // namespace vprof::report
