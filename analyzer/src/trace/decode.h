// Slots to the timeline of their thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/clock.h"
#include "trace/frame_history.h"
#include "trace/trace_file.h"

namespace vprof::analyzer {

/// Which sites sites.json defines, a byte each: asked for once per record.
class KnownSites {
 public:
  explicit KnownSites(const Sites& sites);
  bool holds(uint32_t site) const { return site < known_.size() && known_[site] != 0; }
  /// The bytes: no event is among them.
  const unsigned char* begin() const { return known_.data(); }
  uint32_t size() const { return static_cast<uint32_t>(known_.size()); }
  /// Whether the objects of an application's acquire or release function are the same in the whole
  /// family of processes.
  bool shares(uint32_t sync) const {
    return std::find(shared_.begin(), shared_.end(), sync) != shared_.end();
  }

 private:
  std::vector<unsigned char> known_;
  std::vector<uint32_t> shared_;  // few
};

/// From the snapshots in the file; only the helper thread writes them.
Clock make_clock(const TraceFile& file);

/// Appends what slots hold to the timeline of its thread, the last record first.
void decode(std::span<const vprof_slot> slots, const Process& process, const KnownSites& sites,
            const Clock& clock, Thread& thread);

/// A slot with which a record begins.
bool is_head(const vprof_slot& slot);

/// When the record that begins with this slot was written, in ticks.
uint64_t end_ticks_of(const vprof_slot& slot);

}  // namespace vprof::analyzer
