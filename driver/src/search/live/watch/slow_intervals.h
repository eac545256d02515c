// The slow ones among the intervals that a watch has read: their recordings are kept.
#pragma once

#include "search/live/watch/slow_bound.h"
#include "workspace/workspace.h"

namespace vprof::driver {

class SlowIntervals {
 public:
  /// @param keep_mb most that the kept recordings may take, MiB
  SlowIntervals(const Workspace& workspace, SlowBound bound, uint64_t keep_mb)
      : workspace_(workspace), bound_(bound), keep_mb_(keep_mb) {}

  /// Keeps the copy in the workspace, of which `window` is the profile, if one of its intervals is
  /// slow, and names the slowest of them. Error: it cannot be kept.
  Result<void> look(const analyzer::Profile& window, const analyzer::Profile& so_far,
                    const fs::path& sites_json);

  double bound_ns(const analyzer::Profile& so_far) const { return bound_.ns(so_far); }
  /// How many there were.
  uint64_t count() const { return count_; }

 private:
  const Workspace& workspace_;
  const SlowBound bound_;
  const uint64_t keep_mb_;
  uint64_t count_ = 0;
};

}  // namespace vprof::driver
