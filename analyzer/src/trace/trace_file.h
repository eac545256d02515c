// One .vpt file: checked, and split into the chunks of its threads.
//
//   file --open--> header checked --> chunks found --> chunks grouped by thread
//                                       `-- damaged parts skipped and counted
//
// No number read from a file is used as a length before it is checked against the size of the file.
// Files are read piece by piece, not mapped: mapping and unmapping what is read once costs several
// times as much as copying it, all the more while other threads run. And if a file is truncated
// meanwhile, a read reports that instead of raising SIGBUS.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/clock.h"
#include "vprof/analyzer/analyzer.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

class File {
 public:
  static Result<std::shared_ptr<const File>> open(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  uint64_t size() const { return size_; }
  /// Fills `to` with the bytes from `offset` on, and with zeros beyond the end of the file. Returns
  /// how many bytes the file had. Any thread may call it.
  size_t read(uint64_t offset, std::span<unsigned char> to) const;

 private:
  explicit File(std::string path) : path_(std::move(path)) {}
  std::string path_;
  int descriptor_ = -1;  // -1: too many files are open, so each read opens the file
  uint64_t size_ = 0;
};

/// Consecutive slots of a file.
struct Slots {
  uint64_t offset = 0;
  size_t count = 0;

  Slots first(size_t n) const { return {offset, n}; }
  Slots from(size_t n) const { return {offset + n * sizeof(vprof_slot), count - n}; }
};

/// Fills `to` with slots of a file, and with zero slots where it has been truncated. Returns how
/// many bytes are missing.
uint64_t read_slots(const File& file, Slots slots, std::vector<vprof_slot>& to);

/// Reads single slots, mostly from the last one backwards. It reads blocks, which grow as it
/// proceeds.
class BackwardSlotReader {
 public:
  BackwardSlotReader(const File& file, Slots slots) : file_(file), slots_(slots) {}
  const vprof_slot& at(size_t i) {
    if (i - begin_ >= read_.size()) {
      read_up_to(i);
    }
    return read_[i - begin_];
  }

 private:
  void read_up_to(size_t i);

  const File& file_;
  Slots slots_;
  size_t begin_ = 0;
  size_t block_ = 16;
  std::vector<vprof_slot> read_;
};

struct Chunk {
  uint32_t index = 0;
  Slots slots;
  std::string thread_name;
  uint32_t tid = 0;  ///< the kernel's id of the thread
  uint64_t opened_ticks = 0;
  uint64_t opened_processor_ns = 0;         ///< processor time of the thread then; 0: unknown
  uint32_t own_calls = 0, timed_calls = 0;  ///< as in the chunk's header
  vprof_slot first{};                       ///< the first slot; zero if there is none
};

struct ThreadChunks {
  uint32_t serial = 0;
  std::vector<Chunk> chunks;  ///< in order of index
};

struct TraceFile {
  std::string path;
  std::shared_ptr<const File> file;
  vprof_file_header header{};
  std::vector<ThreadChunks> threads;  ///< in order of serial
  uint64_t unreadable_bytes = 0;
};

/// Adds what the file says about processor time to `overhead`. What single threads recorded counts
/// from their first chunk on that was opened at `since` or later. In busy_time.cpp.
void add_busy_time(const TraceFile& file, const Clock& clock, int64_t since, Overhead& overhead);

/// Opens all *.vpt files of a directory, in order of their names. Error: one line, names the file
/// and what to do.
Result<std::vector<TraceFile>> open_traces(const std::string& directory);

/// Drops the chunks of threads in which all records are of earlier or later times, and the records
/// that ended before Epoch::recorded_since. The helper's records are in no order, so all of them
/// stay.
void keep_chunks_of(const Epoch& epoch, const Clock& clock, TraceFile& file);

}  // namespace vprof::analyzer
