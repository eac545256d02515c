// One .vpt file: validated, mapped, and cut into the chunks of its threads.
//
//   file ──open──▶ header checked ──▶ chunks found (damaged parts skipped and counted) ──▶ grouped
//   by thread
//
// Nothing read from a file is trusted as a length before it is held against the size of the file.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

/// The bytes of a file, for reading. Unmapped when the last user is gone.
class Mapping {
 public:
  static Result<std::shared_ptr<const Mapping>> open(const std::string& path);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::span<const unsigned char> bytes() const { return {data_, size_}; }

 private:
  Mapping() = default;
  const unsigned char* data_ = nullptr;
  size_t size_ = 0;
};

struct Chunk {
  uint32_t index = 0;
  uint64_t offset = 0;  ///< of the chunk in the file
  std::span<const unsigned char> slots;
  std::string thread_name;
  vprof_slot first{};  ///< the first of the slots; zero: there is none
};

struct ThreadChunks {
  uint32_t serial = 0;
  std::vector<Chunk> chunks;  ///< in order of index
};

struct TraceFile {
  std::string path;
  std::shared_ptr<const Mapping> mapping;
  vprof_file_header header{};
  std::vector<ThreadChunks> threads;  ///< in order of serial
  uint64_t unreadable_bytes = 0;
};

/// All *.vpt files of a directory in order of their names. Error: one line, names the file and what
/// to do.
Result<std::vector<TraceFile>> open_traces(const std::string& directory);

/// Brings slots of a file in at once, instead of a few pages at a time as they are looked at.
void read_pages(std::span<const unsigned char> slots);
/// Gives the memory that slots of a file, and what the system brought in around them, were read
/// into back to it; they can be read again.
void release_pages(std::span<const unsigned char> slots, std::span<const unsigned char> file);

/// Reads slot `i` of a chunk; word1 == 0 means that the record is not whole.
inline vprof_slot slot_at(std::span<const unsigned char> slots, size_t i) {
  vprof_slot slot;
  std::memcpy(&slot, slots.data() + i * sizeof(slot), sizeof(slot));
  return slot;
}

}  // namespace vprof::analyzer
