// The profile file `profile.vprof`: interval sums as MessagePack, so that any MessagePack reader
// can look into it. Long lists of sums are binary values within it (packed_numbers.h).
#pragma once

#include <string>

#include "statistics/interval_sums.h"

namespace vprof::analyzer {

std::string to_bytes(const IntervalSums& sums);

/// Error: one line, without the name of the file. Nothing in the bytes is trusted: sizes and
/// indices are checked against each other.
Result<IntervalSums> from_bytes(const std::string& bytes);

}  // namespace vprof::analyzer
