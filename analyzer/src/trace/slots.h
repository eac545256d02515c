// Single slots of a trace. docs/trace-format.md describes them.
#pragma once

#include <cstdint>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

/// The site of a frame, or the event.
inline uint32_t id_of(const vprof_slot& slot) {
  return static_cast<uint32_t>(slot.word1 & VPROF_ID_MASK);
}

inline uint64_t payload_of(const vprof_slot& slot) { return slot.word1 >> VPROF_ID_BITS; }

inline uint64_t saturated_sum(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

inline bool is_wait(uint32_t id) { return id >= VPROF_EV_WAIT_FIRST && id <= VPROF_EV_WAIT_LAST; }

/// Whether a record begins with this slot.
inline bool is_head(const vprof_slot& slot) {
  return slot.word1 != 0 && id_of(slot) != VPROF_EV_CONT;
}

/// When the record that begins with this slot was written, in ticks.
inline uint64_t end_ticks_of(const vprof_slot& slot) {
  const uint32_t id = id_of(slot);
  const bool lasts =
      id < VPROF_EV_FIRST || is_wait(id) || id == VPROF_EV_PREEMPTED || id == VPROF_EV_SETUP;
  if (!lasts) {
    return slot.word0;
  }
  return saturated_sum(slot.word0, payload_of(slot));
}

}  // namespace vprof::analyzer
