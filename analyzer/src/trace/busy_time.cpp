// How long the threads of a file were on a processor, how much they recorded meanwhile, and what
// the runtime did besides.
//
// A thread notes its processor time whenever it takes a chunk. So what it recorded in its first
// chunks, up to the last but one, belongs to a known part of its processor time. What came before
// its first record (a server that loads its data) does not count, nor does its last chunk.
#include <algorithm>
#include <tuple>

#include "trace/clock.h"
#include "trace/trace_file.h"

namespace vprof::analyzer {
namespace {

double ticks_in_ns(const vprof_file_header& header, uint64_t ticks) {
  const uint64_t per_second = header.ticks_per_second == 0 ? 1000000000 : header.ticks_per_second;
  return static_cast<double>(ticks) * 1e9 / static_cast<double>(per_second);
}

/// `end - begin`, or 0 if one is unknown or damaged.
uint64_t between(uint64_t begin, uint64_t end) {
  return begin != 0 && end > begin ? end - begin : 0;
}

void add_thread(const vprof_file_header& header, const ThreadChunks& thread, const Clock& clock,
                int64_t since, Overhead& overhead) {
  const auto first = std::ranges::find_if(
      thread.chunks, [&](const Chunk& chunk) { return clock.to_ns(chunk.opened_ticks) >= since; });
  if (thread.serial == 0 || thread.chunks.end() - first < 2) {
    return;
  }
  const Chunk& last = thread.chunks.back();
  const uint64_t busy = between(first->opened_processor_ns, last.opened_processor_ns);
  const uint64_t passed = between(first->opened_ticks, last.opened_ticks);
  if (busy == 0 || passed == 0) {
    return;
  }
  uint64_t records = 0;
  for (auto chunk = first; chunk + 1 != thread.chunks.end(); ++chunk) {
    records += chunk->slots.count;
  }
  if (std::tie(records, last.thread_name) > std::tie(overhead.thread_records, overhead.thread)) {
    overhead.thread = last.thread_name;
    overhead.thread_records = records;
    overhead.thread_ns = static_cast<double>(busy);
    overhead.thread_passed_ns = ticks_in_ns(header, passed);
  }
}

/// A ring keeps only the last records. The part of the processor time that they are of, as if
/// records had been made evenly.
double kept_part(const TraceFile& file) {
  uint64_t kept = 0;
  for (const ThreadChunks& thread : file.threads) {
    for (const Chunk& chunk : thread.chunks) {
      kept += chunk.slots.count;
    }
  }
  const uint64_t lost = file.header.overwritten;
  return lost == 0 ? 1 : static_cast<double>(kept) / static_cast<double>(kept + lost);
}

}  // namespace

void add_busy_time(const TraceFile& file, const Clock& clock, int64_t since, Overhead& overhead) {
  const vprof_file_header& header = file.header;
  const double part = kept_part(file);
  overhead.processor_ns +=
      part * static_cast<double>(between(header.start_processor_ns, header.processor_ns));
  overhead.process_ns += part * static_cast<double>(header.processor_ns);
  overhead.helper_ns += part * static_cast<double>(header.helper_ns + header.set_up_ns);
  const double call_ns = ticks_in_ns(header, header.call_ticks_x256) / 256;
  for (const ThreadChunks& thread : file.threads) {
    for (const Chunk& chunk : thread.chunks) {
      overhead.calls_ns += call_ns * chunk.own_calls;
      overhead.timed_calls += chunk.timed_calls;
    }
    add_thread(header, thread, clock, since, overhead);
  }
}

}  // namespace vprof::analyzer
