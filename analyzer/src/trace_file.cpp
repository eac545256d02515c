#include "trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

namespace vprof::analyzer {
namespace {

namespace fs = std::filesystem;

using Bytes = std::span<const unsigned char>;

std::string check_header(const std::string& path, const vprof_file_header& header) {
  if (header.magic == __builtin_bswap64(VPROF_TRACE_MAGIC)) {
    return fmt::format(
        "{}: trace of a machine with the other byte order; analyze it on such a machine", path);
  }
  if (header.magic != VPROF_TRACE_MAGIC) {
    return fmt::format("{}: not a trace; remove it from the trace directory", path);
  }
  if (header.endian != VPROF_TRACE_ENDIAN) {
    return fmt::format(
        "{}: trace of a machine with the other byte order; analyze it on such a machine", path);
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

constexpr uint64_t kReleaseBytes = 64u << 20;

// A page that is looked at may be brought in with all that lies in the same piece of the page
// cache, which is of this size at most (Linux 6.18; before that, with 16 pages).
constexpr size_t kAround = 2 << 20;

/// Of the pages in which the range lies. What the kernel cannot do is left undone.
void advise(Bytes range, int advice) {
  const auto from = reinterpret_cast<uintptr_t>(range.data()) / VPROF_PAGE_BYTES * VPROF_PAGE_BYTES;
  const auto to =
      (reinterpret_cast<uintptr_t>(range.data() + range.size()) + VPROF_PAGE_BYTES - 1) /
      VPROF_PAGE_BYTES * VPROF_PAGE_BYTES;
  if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, advice);
}

bool all_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char b) { return b == 0; });
}

std::string printable(const char (&name)[16]) {
  std::string text;
  for (const char c : name) {
    if (c == 0) break;
    text.push_back(c >= 0x20 && c < 0x7f ? c : '?');
  }
  return text;
}

/// A chunk header that lies about its size is damage, unless it is the file that ends too early.
bool plausible(const vprof_chunk_header& header, uint64_t offset, uint64_t used) {
  return header.magic == VPROF_CHUNK_MAGIC && header.bytes >= VPROF_PAGE_BYTES &&
         header.bytes % VPROF_PAGE_BYTES == 0 && header.bytes <= used - offset;
}

void find_chunks(TraceFile& file) {
  const Bytes all = file.mapping->bytes();
  // `used` below the header or beyond any file is damage: then the size of the file has to do.
  uint64_t used = file.header.used;
  if (used < VPROF_FILE_HEADER_BYTES ||
      used > std::max<uint64_t>(file.header.capacity, all.size())) {
    used = all.size();
  }
  const uint64_t readable = std::min<uint64_t>(used, all.size());
  file.unreadable_bytes += used - readable;
  std::map<uint32_t, std::vector<Chunk>> threads;
  uint64_t released = 0;
  for (uint64_t at = VPROF_FILE_HEADER_BYTES; at < readable;) {
    vprof_chunk_header header{};
    const uint64_t left = readable - at;
    if (left >= sizeof(header)) std::memcpy(&header, all.data() + at, sizeof(header));
    if (left < sizeof(header) || !plausible(header, at, used)) {
      // Chunks begin at pages, so the next one is found there. A page of zeros was reserved but
      // never written.
      const uint64_t skip = std::min<uint64_t>(left, VPROF_PAGE_BYTES);
      if (!all_zero(all.subspan(at, skip))) file.unreadable_bytes += skip;
      at += skip;
      continue;
    }
    const uint64_t whole = std::min<uint64_t>(header.bytes, left);
    const uint64_t slots = (whole - sizeof(header)) / sizeof(vprof_slot);
    if (header.thread_serial == 0 &&
        all_zero(all.subspan(at + sizeof(header),
                             std::min<uint64_t>(whole, VPROF_PAGE_BYTES) - sizeof(header)))) {
      at += whole;  // made ready, and nobody took it
      continue;
    }
    Chunk& chunk = threads[header.thread_serial].emplace_back();
    chunk.index = header.index;
    chunk.offset = at;
    chunk.slots = all.subspan(at + sizeof(header), slots * sizeof(vprof_slot));
    chunk.thread_name = printable(header.thread_name);
    if (slots != 0) chunk.first = slot_at(chunk.slots, 0);
    at += whole;
    if (at - released >= kReleaseBytes) {  // looking at headers brings their neighbourhood in, too
      advise(all.subspan(released, at - released), MADV_DONTNEED);
      released = at;
    }
  }
  for (auto& [serial, chunks] : threads) {
    std::sort(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) {
      return std::pair(a.index, a.offset) < std::pair(b.index, b.offset);
    });
    // A chunk that was being copied to another place when the program was killed is there twice;
    // the copy, which lies behind, may be cut off. (Serial 0 is the helper's and of those nobody
    // took.)
    if (serial != 0) {
      const auto same = [](const Chunk& a, const Chunk& b) { return a.index == b.index; };
      chunks.erase(std::unique(chunks.begin(), chunks.end(), same), chunks.end());
    }
    file.threads.push_back({serial, std::move(chunks)});
  }
}

Result<TraceFile> open_trace(const std::string& path) {
  auto mapping = Mapping::open(path);
  if (!mapping) return tl::make_unexpected(mapping.error());
  TraceFile file;
  file.path = path;
  file.mapping = *mapping;
  const Bytes all = file.mapping->bytes();
  // The beginning says whether it is a trace at all, also where the file is cut off within the
  // header.
  if (!all.empty())
    std::memcpy(&file.header, all.data(), std::min(all.size(), sizeof(file.header)));
  const size_t identity = offsetof(vprof_file_header, clock);
  if (all.size() >= identity || all.size() == 0) {
    std::string error =
        all.empty() ? fmt::format("{}: empty file; remove it from the trace directory", path)
                    : check_header(path, file.header);
    if (!error.empty()) return tl::make_unexpected(std::move(error));
  }
  if (all.size() < sizeof(file.header)) {
    return tl::make_unexpected(
        fmt::format("{}: cut off within its header; remove it or record again", path));
  }
  find_chunks(file);
  return file;
}

}  // namespace

Result<std::shared_ptr<const Mapping>> Mapping::open(const std::string& path) {
  const auto fail = [&](const char* what) {
    return tl::make_unexpected(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail("cannot open");
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    auto error = fail("cannot read its size");
    ::close(fd);
    return error;
  }
  std::shared_ptr<Mapping> mapping(new Mapping);
  mapping->size_ = static_cast<size_t>(status.st_size);
  if (mapping->size_ != 0) {
    void* data = ::mmap(nullptr, mapping->size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      auto error = fail("cannot map");
      mapping->size_ = 0;
      ::close(fd);
      return error;
    }
    mapping->data_ = static_cast<const unsigned char*>(data);
  }
  ::close(fd);
  return mapping;
}

Mapping::~Mapping() {
  if (size_ != 0) ::munmap(const_cast<unsigned char*>(data_), size_);
}

Result<std::vector<TraceFile>> open_traces(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".vpt") paths.push_back(it->path().string());
  }
  if (error) {
    return tl::make_unexpected(fmt::format(
        "{}: cannot read the trace directory: {}; record a run first", directory, error.message()));
  }
  if (paths.empty()) {
    return tl::make_unexpected(fmt::format(
        "{}: no trace (*.vpt) in this directory; was the program built with the runtime and run?",
        directory));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<TraceFile> files;
  for (const std::string& path : paths) {
    auto file = open_trace(path);
    if (!file) return tl::make_unexpected(file.error());
    files.push_back(std::move(*file));
  }
  return files;
}

void read_pages(std::span<const unsigned char> slots) { advise(slots, MADV_POPULATE_READ); }

void release_pages(std::span<const unsigned char> slots, std::span<const unsigned char> file) {
  const auto before = std::min<size_t>(kAround, static_cast<size_t>(slots.data() - file.data()));
  const unsigned char* from = slots.data() - before;
  const size_t rest = file.size() - static_cast<size_t>(from - file.data());
  advise({from, std::min(before + slots.size() + kAround, rest)}, MADV_DONTNEED);
}

}  // namespace vprof::analyzer
