// One pass over a recording, interval by interval.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "critical_path/segments.h"
#include "critical_path/wake_up_edges.h"
#include "trace/trace_stream.h"

namespace vprof::analyzer {

/// Records held at a time, if that many are wanted; intervals that would need more are given up.
inline constexpr uint64_t kMostHeld = 6 << 20;

/// Calls `take` with the intervals of one portion of the recording after the other, from its end to
/// its beginning, which it may change; the window of `stream` holds all of them then.
void scan(TraceStream& stream, IntervalBuilder& builder, const Options& options, Crew& crew,
          const std::function<void(std::vector<Interval>&)>& take);

// ---- for what looks at single intervals instead of adding them up

/// Some completed intervals, and the part of the recording that holds all of them.
struct Scanned {
  const std::vector<Interval>& intervals;  ///< of the kinds wanted, in order of falling begin
  const std::vector<std::string>& labels;  ///< by Interval::label
  const Window& window;
  int64_t start;                        ///< begin of the recording
  int64_t run;                          ///< the same in ns of CLOCK_REALTIME
  std::function<const Links&()> links;  ///< made when first asked for
};

/// How many intervals were given up because too much stands between their begin and end, and how
/// many of the completed ones were left out by Options::skip_ns.
struct ScanResult {
  uint64_t given_up = 0;
  uint64_t skipped = 0;
};

/// Calls `take` with one portion after the other, from the end of the recording to its beginning.
/// Options::interval says of which kind the intervals are (empty: of any). Window and links stay
/// where they are, so a PathWalker made for the first portion may go on.
Result<ScanResult> scan(const std::string& trace_dir, const Sites& sites, const Options& options,
                        const std::function<void(const Scanned&)>& take);

}  // namespace vprof::analyzer
