// Feeds arbitrary bytes to the reader, which must refuse them or read what is whole. libFuzzer
// detects crashes, hangs and unbounded memory; the sanitizers detect everything else.
//
// The first byte selects what the rest is: a whole file, the slots of one chunk in an otherwise
// intact file (the usual kind of damage), or a profile to merge.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"
#include "vprof/runtime/trace_format.h"

namespace {

using Bytes = std::vector<unsigned char>;

/// A temporary directory with a sites.json.
struct Scratch {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("vprof-fuzz-" + std::to_string(::getpid()));
  Scratch() {
    std::filesystem::create_directories(path);
    std::ofstream(path / "sites.json")
        << R"({"functions":[{"id":1,"name":"f"},{"id":2,"name":"g"}],"sites":[)"
           R"({"id":1,"kind":"function","function":1},{"id":2,"kind":"call","function":2,"parent":1}],)"
           R"("intervals":[{"index":0,"name":"request"}],"sync":[{"index":0,"function":"pop"}]})";
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

std::string directory() {
  static const Scratch scratch;
  return scratch.path.string();
}

/// An intact file with one chunk that contains these slots.
Bytes with_slots(const uint8_t* data, size_t size) {
  vprof_file_header header{};
  header.magic = VPROF_TRACE_MAGIC;
  header.version = VPROF_TRACE_VERSION;
  header.endian = VPROF_TRACE_ENDIAN;
  header.slot_bytes = sizeof(vprof_slot);
  header.ticks_per_second = 1'000'000'000;
  vprof_chunk_header chunk{};
  chunk.magic = VPROF_CHUNK_MAGIC;
  chunk.thread_serial = 1;
  const size_t whole =
      (sizeof(chunk) + size + VPROF_PAGE_BYTES - 1) / VPROF_PAGE_BYTES * VPROF_PAGE_BYTES;
  chunk.bytes = static_cast<uint32_t>(whole);
  Bytes bytes(sizeof(header) + whole);
  header.used = header.capacity = bytes.size();
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), &chunk, sizeof(chunk));
  if (size != 0) {
    std::memcpy(bytes.data() + sizeof(header) + sizeof(chunk), data, size);
  }
  return bytes;
}

void analyze(const Bytes& bytes) {
  std::ofstream(directory() + "/1-0.vpt", std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  vprof::analyzer::Options options;
  options.threads = 1;
  const auto profile = vprof::analyzer::analyze(directory(), directory() + "/sites.json", options);
  if (!profile && (profile.error().message.empty() ||
                   profile.error().message.find('\n') != std::string::npos)) {
    std::abort();  // an error is one line
  }
  if (!profile) {
    return;
  }
  for (const std::string& note : profile->losses.notes) {
    if (note.find("defect") != std::string::npos) {
      std::abort();  // conservation must hold for any input
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const uint8_t mode = data[0];
  ++data;
  --size;
  if (mode % 4 == 0) {
    analyze({data, data + size});
  } else if (mode % 4 == 1) {
    (void)vprof::analyzer::merge({{"fuzz", std::string(reinterpret_cast<const char*>(data), size)}},
                                 {});
  } else {
    analyze(with_slots(data, size));
  }
  return 0;
}
