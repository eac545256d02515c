#include "trace/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "trace/slots.h"
#include "vprof/support/text.h"

namespace vprof::analyzer {
namespace {

namespace fs = std::filesystem;

using Bytes = std::span<const unsigned char>;

std::string check_header(const std::string& path, const vprof_file_header& header) {
  if (header.magic == __builtin_bswap64(VPROF_TRACE_MAGIC)) {
    return fmt::format(
        "{}: trace from a machine with the other byte order; analyze it on such a machine", path);
  }
  if (header.magic != VPROF_TRACE_MAGIC) {
    return fmt::format("{}: not a trace; remove it from the trace directory", path);
  }
  if (header.endian != VPROF_TRACE_ENDIAN) {
    return fmt::format(
        "{}: trace from a machine with the other byte order; analyze it on such a machine", path);
  }
  if (header.version != VPROF_TRACE_VERSION) {
    return fmt::format(
        "{}: trace format version {}, this program reads version {}; record it again", path,
        header.version, VPROF_TRACE_VERSION);
  }
  if (header.slot_bytes != sizeof(vprof_slot)) {
    return fmt::format("{}: slots of {} bytes, this program reads {}; record it again", path,
                       header.slot_bytes, sizeof(vprof_slot));
  }
  return {};
}

/// Limit of files kept open. A recording has one per process, possibly more than this process may
/// have open.
constexpr int kMaxOpenFiles = 256;
std::atomic<int> files_open{0};

/// Largest block of a BackwardSlotReader, slots.
constexpr size_t kMaxSlotsRead = 4096;

bool all_zero(Bytes bytes) {
  return bytes.empty() ||
         (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

/// The runtime's chunks have 1 MiB at most. A chunk of the helper thread is read in one go.
constexpr uint32_t kLargestChunk = 16u << 20;

/// Whether a chunk header can be right about its size, up to the used part of the file.
bool plausible(const vprof_chunk_header& header, uint64_t offset, uint64_t used) {
  return header.magic == VPROF_CHUNK_MAGIC && header.bytes >= VPROF_PAGE_BYTES &&
         header.bytes <= kLargestChunk && header.bytes % VPROF_PAGE_BYTES == 0 &&
         header.bytes <= used - offset;
}

/// How much of the file is in use, according to its header. A value inside the header or beyond the
/// file is damaged; the size of the file takes its place.
uint64_t used_bytes(const TraceFile& file) {
  const uint64_t size = file.file->size();
  const uint64_t used = file.header.used;
  const bool damaged =
      used < VPROF_FILE_HEADER_BYTES || used > std::max<uint64_t>(file.header.capacity, size);
  return damaged ? size : used;
}

using ChunksBySerial = std::map<uint32_t, std::vector<Chunk>>;

/// Finds the chunks of all threads. Counts unreadable bytes in `file`.
ChunksBySerial find_chunks(TraceFile& file) {
  const uint64_t used = used_bytes(file);
  const uint64_t readable = std::min<uint64_t>(used, file.file->size());
  file.unreadable_bytes += used - readable;
  ChunksBySerial threads;
  std::array<unsigned char, VPROF_PAGE_BYTES> buffer{};
  for (uint64_t at = VPROF_FILE_HEADER_BYTES; at < readable;) {
    vprof_chunk_header header{};
    const uint64_t left = readable - at;
    const auto page = std::span(buffer).first(std::min<uint64_t>(left, VPROF_PAGE_BYTES));
    file.file->read(at, page);
    if (page.size() >= sizeof(header)) {
      std::memcpy(&header, page.data(), sizeof(header));
    }
    if (page.size() < sizeof(header) || !plausible(header, at, used)) {
      // Look for the next chunk on the next page. A page of zeros was reserved and never written.
      if (!all_zero(page)) {
        file.unreadable_bytes += page.size();
      }
      at += page.size();
      continue;
    }
    const uint64_t whole = std::min<uint64_t>(header.bytes, left);
    const uint64_t slots = (whole - sizeof(header)) / sizeof(vprof_slot);
    if (header.thread_serial == 0 && all_zero(page.subspan(sizeof(header)))) {
      at += whole;  // prepared, and never taken by a thread
      continue;
    }
    Chunk& chunk = threads[header.thread_serial].emplace_back();
    chunk.index = header.index;
    chunk.slots = {at + sizeof(header), slots};
    chunk.thread_name =
        printable({header.thread_name, ::strnlen(header.thread_name, sizeof header.thread_name)});
    chunk.tid = header.tid;
    chunk.opened_ticks = header.opened_ticks;
    chunk.opened_processor_ns = header.opened_processor_ns;
    chunk.own_calls = header.own_calls;
    chunk.timed_calls = header.timed_calls;
    if (slots != 0) {
      std::memcpy(&chunk.first, page.data() + sizeof(header), sizeof(chunk.first));
    }
    at += whole;
  }
  return threads;
}

/// Puts each thread's chunks in order, without duplicates.
void group_chunks(ChunksBySerial threads, TraceFile& file) {
  for (auto& [serial, chunks] : threads) {
    std::sort(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) {
      return std::pair(a.index, a.slots.offset) < std::pair(b.index, b.slots.offset);
    });
    // A program killed while it archived a chunk leaves that chunk twice. The copy, further back in
    // the file, may be truncated. (Serial 0 is the helper thread's, and that of unused chunks.)
    if (serial != 0) {
      const auto same = [](const Chunk& a, const Chunk& b) { return a.index == b.index; };
      chunks.erase(std::unique(chunks.begin(), chunks.end(), same), chunks.end());
    }
    file.threads.push_back({serial, std::move(chunks)});
  }
}

Result<TraceFile> open_trace(const std::string& path) {
  auto opened = VPROF_TRY(File::open(path));
  TraceFile file;
  file.path = path;
  file.file = opened;
  // The first bytes say whether this is a trace, even if the file is truncated within its header.
  std::array<unsigned char, sizeof(file.header)> beginning{};
  const size_t size = file.file->read(0, beginning);
  std::memcpy(&file.header, beginning.data(), sizeof(file.header));
  const size_t identity = offsetof(vprof_file_header, clock);
  if (size >= identity || size == 0) {
    std::string error =
        size == 0 ? fmt::format("{}: empty file; remove it from the trace directory", path)
                  : check_header(path, file.header);
    if (!error.empty()) {
      return fail("{}", std::move(error));
    }
  }
  if (size < sizeof(file.header)) {
    return fail("{}: cut off within its header; remove it or record again", path);
  }
  group_chunks(find_chunks(file), file);
  return file;
}

}  // namespace

Result<std::shared_ptr<const File>> File::open(const std::string& path) {
  std::shared_ptr<File> file(new File(path));
  const auto failed = [&](const char* what) -> tl::unexpected<Error> {
    return fail("{}: {}: {}", path, what, std::strerror(errno));
  };
  file->descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file->descriptor_ < 0) {
    return failed("cannot open");
  }
  ++files_open;
  struct stat status{};
  if (::fstat(file->descriptor_, &status) != 0) {
    return failed("cannot read its size");
  }
  file->size_ = static_cast<uint64_t>(status.st_size);
  unsigned char byte = 0;
  if (::pread(file->descriptor_, &byte, 1, 0) < 0) {
    return failed("cannot read it");
  }
  if (files_open > kMaxOpenFiles) {
    ::close(std::exchange(file->descriptor_, -1));
    --files_open;
  }
  return file;
}

File::~File() {
  if (descriptor_ < 0) {
    return;
  }
  ::close(descriptor_);
  --files_open;
}

size_t File::read(uint64_t offset, std::span<unsigned char> to) const {
  const int descriptor =
      descriptor_ >= 0 ? descriptor_ : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t more =
        ::pread(descriptor, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (more < 0 && errno == EINTR) {
      continue;
    }
    if (more <= 0) {
      break;
    }
    done += static_cast<size_t>(more);
  }
  if (descriptor_ < 0 && descriptor >= 0) {
    ::close(descriptor);
  }
  std::fill(to.begin() + static_cast<ptrdiff_t>(done), to.end(), static_cast<unsigned char>(0));
  return done;
}

uint64_t read_slots(const File& file, Slots slots, std::vector<vprof_slot>& to) {
  to.resize(slots.count);
  const size_t bytes = slots.count * sizeof(vprof_slot);
  return bytes - file.read(slots.offset, {reinterpret_cast<unsigned char*>(to.data()), bytes});
}

void BackwardSlotReader::read_up_to(size_t i) {
  const size_t count = std::min(i + 1, block_);
  begin_ = i + 1 - count;
  read_slots(file_, slots_.from(begin_).first(count), read_);
  block_ = std::min(2 * block_, kMaxSlotsRead);
}

Result<std::vector<TraceFile>> open_traces(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".vpt") {
      paths.push_back(it->path().string());
    }
  }
  if (error) {
    return fail("{}: cannot read the trace directory: {}; record a run first", directory,
                error.message());
  }
  if (paths.empty()) {
    return fail(
        "{}: no trace (*.vpt) in this directory; was the program built with the runtime and run?",
        directory);
  }
  std::sort(paths.begin(), paths.end());
  std::vector<TraceFile> files;
  for (const std::string& path : paths) {
    auto file = VPROF_TRY(open_trace(path));
    files.push_back(std::move(file));
  }
  return files;
}

namespace {

bool is_record(const vprof_slot& slot) { return is_head(slot) && id_of(slot) != VPROF_EV_PAD; }

/// About how many slots of a chunk have been written: the first ones.
size_t written(const File& file, Slots slots) {
  size_t count = 0;
  for (size_t end = slots.count; count < end;) {
    const size_t middle = count + (end - count) / 2;
    vprof_slot slot{};
    file.read(slots.from(middle).offset, {reinterpret_cast<unsigned char*>(&slot), sizeof slot});
    if (slot.word1 != 0) {
      count = middle + 1;
    } else {
      end = middle;
    }
  }
  return count;
}

/// The first slot of the records that ended at `time` or later. The records of a thread are in
/// order of their ends, but for those that a signal handler has made.
size_t first_since(int64_t time, const File& file, Slots slots, size_t written,
                   const Clock& clock) {
  const auto at = [&](size_t i) {
    vprof_slot slot{};
    file.read(slots.from(i).offset, {reinterpret_cast<unsigned char*>(&slot), sizeof slot});
    return slot;
  };
  size_t first = 0;
  for (size_t end = written; first < end;) {
    const size_t middle = first + (end - first) / 2;
    size_t head = middle;
    while (head > first && !is_record(at(head))) {
      --head;
    }
    const vprof_slot slot = at(head);
    if (is_record(slot) && clock.to_ns(end_ticks_of(slot)) < time) {
      first = middle + 1;
    } else {
      end = head;
    }
  }
  while (first < slots.count && id_of(at(first)) == VPROF_EV_CONT && at(first).word1 != 0) {
    ++first;
  }
  return first;
}

/// Drops what ended before `time`, and the calls of the chunk as if they had been made evenly.
void trim(int64_t time, const File& file, const Clock& clock, Chunk& chunk) {
  if (clock.to_ns(chunk.opened_ticks) >= time) {
    return;
  }
  const size_t count = written(file, chunk.slots);
  const size_t first = first_since(time, file, chunk.slots, count, clock);
  if (first != 0) {
    const auto all = static_cast<double>(std::max(first, count));
    const double kept = 1 - static_cast<double>(first) / all;
    chunk.own_calls = static_cast<uint32_t>(std::lround(kept * chunk.own_calls));
    chunk.timed_calls = static_cast<uint32_t>(std::lround(kept * chunk.timed_calls));
  }
  chunk.slots = chunk.slots.from(first);
  chunk.first = {};
}

}  // namespace

void keep_chunks_of(const Epoch& epoch, const Clock& clock, TraceFile& file) {
  for (ThreadChunks& thread : file.threads) {
    if (thread.serial == 0) {
      continue;
    }
    std::vector<Chunk>& chunks = thread.chunks;
    if (std::ranges::any_of(chunks, [](const Chunk& c) { return c.opened_ticks == 0; })) {
      continue;  // damaged: when they begin is not known
    }
    const auto opened = [&](const Chunk& chunk) { return clock.to_ns(chunk.opened_ticks); };
    const auto later =
        std::ranges::find_if(chunks, [&](const Chunk& c) { return opened(c) > epoch.until; });
    chunks.erase(later, chunks.end());
    if (epoch.by_end) {
      continue;  // the intervals may have begun long before
    }
    const auto within =
        std::ranges::find_if(chunks, [&](const Chunk& c) { return opened(c) > epoch.from; });
    if (within - chunks.begin() > 1) {
      chunks.erase(chunks.begin(), within - 1);
    }
    for (Chunk& chunk : chunks) {
      trim(epoch.recorded_since, *file.file, clock, chunk);
    }
  }
}

}  // namespace vprof::analyzer
