#include "trace/slots.h"
#include "trace/trace_file.h"
#include "vprof/analyzer/recording.h"

namespace vprof::analyzer {
namespace {

bool is_progress(const vprof_slot& slot) {
  const uint32_t id = id_of(slot);
  return id < VPROF_EV_FIRST || id == VPROF_EV_LONG_FRAME ||
         (id >= VPROF_EV_BEGIN && id <= VPROF_EV_WORK);
}

}  // namespace

bool RecordingProgress::advanced() {
  const auto files = open_traces(directory_);
  if (!files) {
    return false;
  }
  bool found = false;
  for (const TraceFile& file : *files) {
    for (const ThreadChunks& thread : file.threads) {
      const Chunk& newest = thread.chunks.back();
      Position& seen = seen_[{file.path, thread.serial}];
      if (seen.chunk != newest.index) {
        seen = {.chunk = newest.index, .slots = 0};
      }
      std::vector<vprof_slot> slots;
      read_slots(*file.file, newest.slots.from(std::min(seen.slots, newest.slots.count)), slots);
      for (const vprof_slot& slot : slots) {
        if (slot.word1 == 0) {
          break;  // slots are filled one after the other
        }
        ++seen.slots;
        found = found || is_progress(slot);
      }
    }
  }
  return found;
}

}  // namespace vprof::analyzer
