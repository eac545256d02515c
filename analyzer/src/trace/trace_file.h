// One .vpt file: validated, and cut into the chunks of its threads.
//
//   file ──open──▶ header checked ──▶ chunks found (damaged parts skipped and counted) ──▶ grouped
//   by thread
//
// Nothing read from a file is trusted as a length before it is held against the size of the file.
// Files are read a piece at a time, not mapped: to map what has been looked at and to give it back
// costs several times as much as to copy it, the more so while other threads run, and where a file
// is cut off meanwhile, reading says so.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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
  /// Fills `to` with what stands from `offset` on; where nothing does, with zeros. Returns how many
  /// bytes there were. Any thread.
  size_t read(uint64_t offset, std::span<unsigned char> to) const;

 private:
  explicit File(std::string path) : path_(std::move(path)) {}
  std::string path_;
  int descriptor_ = -1;  // -1: opened whenever it is read, as too many others are open
  uint64_t size_ = 0;
};

/// Slots that follow each other in a file.
struct Slots {
  uint64_t offset = 0;
  size_t count = 0;

  Slots first(size_t some) const { return {offset, some}; }
  Slots from(size_t some) const { return {offset + some * sizeof(vprof_slot), count - some}; }
};

/// Fills `to` with slots of a file; those that it no longer has are zero. Returns how many bytes
/// are missing.
uint64_t read_slots(const File& file, Slots slots, std::vector<vprof_slot>& to);

/// Single slots, which are looked for from the last one on: some are read at a time, and the
/// further it goes, the more.
class SlotFinder {
 public:
  SlotFinder(const File& file, Slots slots) : file_(file), slots_(slots) {}
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
  size_t some_ = 16;
  std::vector<vprof_slot> read_;
};

struct Chunk {
  uint32_t index = 0;
  Slots slots;
  std::string thread_name;
  vprof_slot first{};  ///< the first of the slots; zero: there is none
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

/// All *.vpt files of a directory in order of their names. Error: one line, names the file and what
/// to do.
Result<std::vector<TraceFile>> open_traces(const std::string& directory);

}  // namespace vprof::analyzer
