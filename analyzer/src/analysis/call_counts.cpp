// How often each site was passed.
#include <utility>

#include "trace/decode.h"
#include "trace/slots.h"
#include "trace/trace_file.h"
#include "trace/worker_pool.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {
namespace {

void count(const File& file, const Chunk& chunk, const Clock& clock, const Epoch& epoch,
           std::vector<uint64_t>& counts) {
  std::vector<vprof_slot> slots;
  read_slots(file, chunk.slots, slots);
  const auto is_within = [&](const vprof_slot& slot) {
    const int64_t end = clock.to_ns(end_ticks_of(slot));
    return end >= epoch.from && end <= epoch.to;
  };
  for (const vprof_slot& slot : slots) {
    uint32_t id = id_of(slot);
    if (id == VPROF_EV_LONG_FRAME) {
      id = static_cast<uint32_t>(payload_of(slot) & VPROF_ID_MASK);
    }
    if (slot.word1 == 0 || id >= VPROF_EV_FIRST || (!epoch.is_all() && !is_within(slot))) {
      continue;
    }
    if (id >= counts.size()) {
      counts.resize(id + 1, 0);
    }
    ++counts[id];
  }
}

}  // namespace

Result<std::vector<uint64_t>> count_calls(const std::string& trace_dir, const Options& options) {
  auto files = VPROF_TRY(open_traces(trace_dir));
  struct Part {
    const TraceFile* file;
    const Chunk* chunk;
    Clock clock;  // a copy, as it caches its last range
  };
  std::vector<Part> chunks;
  for (TraceFile& file : files) {
    const Clock clock = make_clock(file, options.epoch.until);
    keep_chunks_of(options.epoch, clock, file);
    for (const ThreadChunks& thread : file.threads) {
      for (const Chunk& chunk : thread.chunks) {
        chunks.push_back({&file, &chunk, clock});
      }
    }
  }
  WorkerPool pool(options.threads);
  std::vector<std::vector<uint64_t>> parts(pool.size());
  pool.each(chunks.size(), [&](size_t i, unsigned worker) {
    const Part& part = chunks[i];
    count(*part.file->file, *part.chunk, part.clock, options.epoch, parts[worker]);
  });
  std::vector<uint64_t> sum;
  for (const std::vector<uint64_t>& part : parts) {
    if (part.size() > sum.size()) {
      sum.resize(part.size(), 0);
    }
    for (size_t i = 0; i < part.size(); ++i) {
      sum[i] += part[i];
    }
  }
  return sum;
}

}  // namespace vprof::analyzer
