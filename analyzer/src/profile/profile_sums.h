// The parts of a profile that are long lists of sums: packed numbers (packed_numbers.h).
//
// decode_...() throw std::exception if the value is damaged. `places` bounds the numbers of places.
#pragma once

#include <vector>

#include "profile/profile_fields.h"

namespace vprof::analyzer {

/// A batch, with its sums by place.
Json encode_batch(const Batch& batch);
Batch decode_batch(const Json& from, const std::vector<Place>& places);

Json encode_tail(const TailSums& tail);
TailSums decode_tail(const Json& from);

Json encode_exemplars(const PlaceExemplars& exemplars);
PlaceExemplars decode_exemplars(const Json& from);
/// Their trace contexts; empty: none has one.
Json encode_traces(const PlaceExemplars& exemplars);
void decode_traces(const Json& from, PlaceExemplars& exemplars);

Json encode_covariates(const CovariateSums& sums);
CovariateSums decode_covariates(const Json& from, size_t places);

Json encode_latencies(const Histogram& latencies);
Histogram decode_latencies(const Json& from);

}  // namespace vprof::analyzer
