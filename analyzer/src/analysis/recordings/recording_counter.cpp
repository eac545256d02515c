#include <algorithm>

#include "trace/slots.h"
#include "trace/trace_file.h"
#include "vprof/analyzer/recording.h"

namespace vprof::analyzer {
namespace {

constexpr size_t kSlotsPerRead = 4096;
constexpr size_t kFewestPerThread = 256;

using Counted = RecordingCounter::Counted;

/// Counts the next slots of the chunk that is being read, up to `most`. Returns whether there may
/// be more. In a chunk that still grows, the first empty slot is the end; in another one, it is a
/// record that was cut off.
bool count_slots(const File& file, Slots slots, size_t most, bool grows, Counted& thread) {
  std::vector<vprof_slot> read;
  read_slots(file, slots.first(std::min(slots.count, most)), read);
  for (const vprof_slot& slot : read) {
    if (slot.word1 == 0 && grows) {
      return false;
    }
    const uint32_t id = id_of(slot);
    ++thread.slots;
    ++thread.read;
    thread.records += is_head(slot) && id != VPROF_EV_PAD ? 1 : 0;
    thread.intervals += id == VPROF_EV_END ? 1 : 0;
  }
  return !read.empty();
}

/// Reads what the thread has added since the last look, up to `most` slots. What comes before its
/// newest chunk and is more than that is left out for good.
void count_thread(const File& file, const std::vector<Chunk>& chunks, size_t most,
                  Counted& thread) {
  const uint64_t end = thread.read + most;
  for (const Chunk& chunk : chunks) {
    if (chunk.index < thread.chunk) {
      continue;
    }
    if (chunk.index > thread.chunk) {
      // In a ring, chunks in between are gone.
      thread.left_out += (chunk.index - thread.chunk - 1) * chunk.slots.count;
      thread.chunk = chunk.index;
      thread.slots = 0;
    }
    const bool grows = chunk.index == chunks.back().index;
    const auto rest = [&] { return chunk.slots.from(std::min(thread.slots, chunk.slots.count)); };
    while (thread.read < end &&
           count_slots(file, rest(), std::min<size_t>(kSlotsPerRead, end - thread.read), grows,
                       thread)) {
    }
    if (!grows && thread.read >= end) {
      thread.left_out += rest().count;
      thread.slots = chunk.slots.count;
    }
  }
}

}  // namespace

RecordedSoFar RecordingCounter::look() {
  // A file that is being made cannot be read yet; the next look finds it.
  const auto files = open_traces(directory_).value_or(std::vector<TraceFile>());
  size_t threads = 0;
  for (const TraceFile& file : files) {
    threads += file.threads.size();
  }
  const size_t most = std::max(kFewestPerThread, slots_per_look_ / std::max<size_t>(1, threads));
  for (const TraceFile& file : files) {
    for (const ThreadChunks& thread : file.threads) {
      if (thread.serial != 0) {  // the helper's
        count_thread(*file.file, thread.chunks, most, threads_[{file.path, thread.serial}]);
      }
    }
  }
  RecordedSoFar all;
  for (const auto& [name, thread] : threads_) {
    const double scale = thread.read == 0 ? 1
                                          : 1 + static_cast<double>(thread.left_out) /
                                                    static_cast<double>(thread.read);
    all.intervals += static_cast<uint64_t>(static_cast<double>(thread.intervals) * scale);
    all.records += static_cast<uint64_t>(static_cast<double>(thread.records) * scale);
    all.exact = all.exact && thread.left_out == 0;
  }
  return all;
}

}  // namespace vprof::analyzer
