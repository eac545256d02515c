#include "vprof/analyzer/recording_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "trace/decode.h"
#include "trace/slots.h"
#include "trace/trace_file.h"
#include "vprof/support/files.h"

namespace vprof::analyzer {
namespace {

using Buffer = std::vector<unsigned char>;

vprof_chunk_header header_in(const Buffer& chunk) {
  vprof_chunk_header header{};
  std::memcpy(&header, chunk.data(), sizeof header);
  return header;
}

/// What is read after this is not older than what was read before.
void in_order() {
#ifndef __SANITIZE_THREAD__  // it knows no fences, and the program that writes is another one
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

/// Of one process.
class ProcessCopy {
 public:
  ProcessCopy(const TraceFile& file, int64_t since)
      : file_(file), clock_(make_clock(file)), since_(since), complete_since_(since) {}

  void read() {
    for (const ThreadChunks& thread : file_.threads) {
      uint32_t next = 0;
      for (const Chunk& chunk : thread.chunks) {
        const bool unused = thread.serial == 0 && chunk.tid == 0;
        if (unused || !copy(chunk, thread.serial)) {
          continue;
        }
        if (thread.serial != 0 && chunk.index != next) {  // those before it have been reused
          complete_since_ = std::max(complete_since_, clock_.to_ns(chunk.opened_ticks));
        }
        next = chunk.index + 1;
      }
    }
  }

  /// Whether there is anything new in it.
  bool is_active() const { return active_; }
  int64_t complete_since() const { return complete_since_; }

  Result<uint64_t> write(const std::filesystem::path& to) const {
    vprof_file_header header = file_.header;
    header.used = sizeof header;
    for (const Buffer& chunk : chunks_) {
      header.used += chunk.size();
    }
    header.capacity = header.used;
    const auto file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>(std::fopen(to.c_str(), "wbe"),
                                                                      &std::fclose);
    bool written = file != nullptr && std::fwrite(&header, sizeof header, 1, file.get()) == 1;
    for (const Buffer& chunk : chunks_) {
      written = written && std::fwrite(chunk.data(), chunk.size(), 1, file.get()) == 1;
    }
    if (!written || std::fflush(file.get()) != 0) {
      return cannot_write(to, errno);
    }
    return header.used;
  }

 private:
  /// Whether the chunk still was that one when all of it had been read (docs/trace-format.md,
  /// "Reading while the program writes").
  bool copy(const Chunk& chunk, uint32_t serial) {
    const uint64_t offset = chunk.slots.offset - sizeof(vprof_chunk_header);
    Buffer bytes(sizeof(vprof_chunk_header) + chunk.slots.count * sizeof(vprof_slot));
    Buffer again(sizeof(vprof_chunk_header));
    file_.file->read(offset, bytes);
    in_order();
    file_.file->read(offset, again);
    const auto is_same = [&](const vprof_chunk_header& header) {
      return header.magic == VPROF_CHUNK_MAGIC && header.thread_serial == serial &&
             header.tid == chunk.tid && header.index == chunk.index &&
             header.opened_ticks == chunk.opened_ticks && header.bytes == bytes.size();
    };
    if (!is_same(header_in(bytes)) || !is_same(header_in(again))) {
      return false;
    }
    active_ = active_ || (serial != 0 && has_new_records(bytes));
    chunks_.push_back(std::move(bytes));
    return true;
  }

  bool has_new_records(const Buffer& chunk) const {
    for (size_t at = chunk.size(); at > sizeof(vprof_chunk_header); at -= sizeof(vprof_slot)) {
      vprof_slot slot{};
      std::memcpy(&slot, chunk.data() + at - sizeof slot, sizeof slot);
      if (is_head(slot) && id_of(slot) != VPROF_EV_PAD) {
        return clock_.to_ns(end_ticks_of(slot)) >= since_;  // they are in order of their ends
      }
    }
    return false;
  }

  const TraceFile& file_;
  const Clock clock_;
  const int64_t since_;
  int64_t complete_since_;
  bool active_ = false;
  std::vector<Buffer> chunks_;
};

}  // namespace

Result<RecordingCopy> copy_recording(const std::string& trace_dir, const std::string& to,
                                     int64_t since) {
  RecordingCopy copy{.complete_since = since};
  for (TraceFile& file : VPROF_TRY(open_traces(trace_dir))) {
    keep_chunks_of({.from = since}, make_clock(file), file);
    ProcessCopy process(file, since);
    process.read();
    if (!process.is_active()) {
      continue;
    }
    const std::filesystem::path name = std::filesystem::path(file.path).filename();
    copy.bytes += VPROF_TRY(process.write(std::filesystem::path(to) / name));
    copy.complete_since = std::max(copy.complete_since, process.complete_since());
  }
  return copy;
}

}  // namespace vprof::analyzer
