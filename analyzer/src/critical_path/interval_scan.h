// One pass over a recording, from its end to its beginning, that yields completed intervals.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "critical_path/segments.h"
#include "critical_path/wake_up_edges.h"
#include "trace/trace_stream.h"

namespace vprof::analyzer {

/// Calls `take` with the completed intervals of each portion of the recording, the last portion
/// first. Meanwhile the window of `stream` holds these intervals completely. `take` may change the
/// vector.
void scan(TraceStream& stream, IntervalBuilder& builder, const Options& options, WorkerPool& pool,
          const std::function<void(std::vector<Interval>&)>& take);

// For passes that look at single intervals instead of adding them up:

/// The completed intervals of a portion, and the window that holds them.
struct Scanned {
  const std::vector<Interval>& intervals;  ///< of the kinds wanted, the latest begin first
  const std::vector<std::string>& labels;  ///< by Interval::label
  const Window& window;
  int64_t start;                                      ///< begin of the recording
  int64_t run;                                        ///< the same in ns of CLOCK_REALTIME
  std::function<const WakeUpEdges&()> wake_up_edges;  ///< built on the first call
};

/// Numbers of intervals that were not scanned.
struct ScanResult {
  uint64_t given_up = 0;  ///< too many records between their begin and end
  uint64_t skipped = 0;   ///< completed, but within Options::skip_ns, or not of Options::epoch
};

/// Calls `take` with each portion, the last one first. Options::interval selects the kind of
/// interval; empty selects all. Window and edges keep their addresses, so one PathWalker can serve
/// all portions.
Result<ScanResult> scan(const std::string& trace_dir, const Sites& sites, const Options& options,
                        const std::function<void(const Scanned&)>& take);

}  // namespace vprof::analyzer
