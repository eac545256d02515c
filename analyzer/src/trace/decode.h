// Decodes slots into the history of their thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/clock.h"
#include "trace/frame_history.h"
#include "trace/slots.h"
#include "trace/trace_file.h"

namespace vprof::analyzer {

/// Which sites sites.json defines, as one byte each: this is looked up for every record.
class KnownSites {
 public:
  explicit KnownSites(const Sites& sites);
  bool contains(uint32_t site) const { return site < known_.size() && known_[site] != 0; }
  /// The bytes, by site. Ids of events are beyond the last.
  const unsigned char* flags() const { return known_.data(); }
  uint32_t size() const { return static_cast<uint32_t>(known_.size()); }
  /// Whether the objects of an application's acquire or release function are shared by the whole
  /// family of processes.
  bool shares(uint32_t sync) const {
    return std::find(shared_.begin(), shared_.end(), sync) != shared_.end();
  }

 private:
  std::vector<unsigned char> known_;
  std::vector<uint32_t> shared_;  // few
};

/// The clock of a process, from the snapshots in its file that were taken up to `until`. Only the
/// helper thread writes them.
Clock make_clock(const TraceFile& file, int64_t until = INT64_MAX);

/// Appends what slots contain to the history of their thread, the last record first.
void decode(std::span<const vprof_slot> slots, const Process& process, const KnownSites& sites,
            const Clock& clock, Thread& thread);

}  // namespace vprof::analyzer
