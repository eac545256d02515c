// The parts of a profile that plots are made of: single intervals, and histograms by label.
#pragma once

#include "profile/profile_fields.h"

namespace vprof::analyzer {

/// Adds the members "intervals" and "label_bins" to the document.
void encode_intervals(const IntervalSums& sums, Json& document);

/// Reads what encode_intervals() wrote. Needs `sums.places`. Throws std::exception if the document
/// is damaged.
void decode_intervals(const Json& document, IntervalSums& sums);

}  // namespace vprof::analyzer
