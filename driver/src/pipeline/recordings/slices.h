// The slices of a live search, in order: a list in the trace directory. With it, single intervals
// are found again as they were when their slice was analysed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vprof/analyzer/analyzer.h"
#include "vprof/analyzer/timeline.h"
#include "vprof/support/files.h"

namespace vprof::driver {

/// Begins a new list if the old one is long. Its recordings are of hours ago.
void begin_slices(const fs::path& trace);

/// Adds a slice, or what it has become. If it cannot be written, its intervals have no timelines.
/// @param cost what recording added to the time that the program was busy
/// @param epoch when the epoch began that it counts in; 0: it was a trial
void note_slice(const fs::path& trace, const analyzer::Epoch& slice, double cost, int64_t epoch);

/// The slices of the last epoch, which have recorded the same sites. None: not a live search.
std::vector<analyzer::Epoch> slices_of_last_epoch(const fs::path& trace);

/// The slice in which an interval began, by its id; nothing: it is of none that is known.
std::optional<analyzer::Epoch> slice_of(const fs::path& trace, uint64_t id);

/// The interval with an id that an analysis of its slice has found, or of what the slice was at an
/// earlier time. Outside a live search, or if `id` is a key: of the whole recording. Errors as for
/// analyzer::timeline_of().
Result<analyzer::Timeline> find_interval(const fs::path& trace, const fs::path& sites_json,
                                         uint64_t id, analyzer::Options options);

}  // namespace vprof::driver
