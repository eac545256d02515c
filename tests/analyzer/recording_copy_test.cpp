// The latest part of a recording that the program still writes, chunk by chunk.
#include "vprof/analyzer/recording_copy.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "helpers.h"
#include "trace_writer.h"
#include "vprof/analyzer/analyzer.h"

using namespace vprof;

namespace {

constexpr int64_t kEach = 1000;

/// Intervals one after the other, each of two frames: six slots, so that 41 fill a chunk.
test::ProcessWriter process_with(uint64_t intervals, uint32_t site) {
  test::ProcessWriter process;
  process.slots_per_chunk = 41 * 6;
  for (uint64_t i = 1; i <= intervals; ++i) {
    const auto begin = static_cast<int64_t>(i) * kEach;
    if (i % 41 == 1) {
      process.thread(1).opened.emplace_back(0, begin);
    }
    process.thread(1).begin(i, begin);
    process.thread(1).frame(site, begin + 100, begin + 200);
    process.thread(1).frame(site, begin + 300, begin + 400);
    process.thread(1).end(i, begin + 900);
  }
  return process;
}

std::string only_file_in(const std::string& directory) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".vpt") {
      found.push_back(entry.path().string());
    }
  }
  REQUIRE(found.size() == 1);
  return found[0];
}

}  // namespace

TEST_CASE("copy of a recording: the chunk that was open then, and the later ones") {
  const test::ScratchDir directory;
  const test::ScratchDir copied;
  test::SitesWriter sites;
  const uint32_t site = sites.function_site(sites.function("serve"));
  process_with(420, site).write(directory.path());
  const std::string file = sites.write(directory.path());
  constexpr int64_t kSince = 400 * kEach;
  const auto copy = analyzer::copy_recording(directory.path(), copied.path(), kSince);
  REQUIRE(copy);
  CHECK(copy->complete_since == kSince);
  CHECK(copy->bytes == std::filesystem::file_size(only_file_in(copied.path())));
  CHECK(copy->bytes < std::filesystem::file_size(only_file_in(directory.path())) / 3);
  analyzer::Options options;
  options.epoch = {.from = kSince, .by_end = true};
  const auto profile = analyzer::analyze(copied.path(), file, options);
  REQUIRE(profile);
  CHECK(profile->interval.count == 21);  // 400 to 420
  CHECK(profile->interval.incomplete == 0);
  CHECK(profile->overhead.records == 21 * 4);  // not the others of the first chunk
  options.epoch.to = 410 * kEach;
  const auto shorter = analyzer::analyze(copied.path(), file, options);
  REQUIRE(shorter);
  CHECK(shorter->interval.count == 10);
  CHECK(shorter->overhead.records == 10 * 4);
}

TEST_CASE("copy of a recording: says from when on it is complete if older chunks were reused") {
  const test::ScratchDir directory;
  const test::ScratchDir copied;
  test::SitesWriter sites;
  const uint32_t site = sites.function_site(sites.function("serve"));
  process_with(420, site).write(directory.path());
  // Another thread owns the first five chunks by now.
  const std::string trace = only_file_in(directory.path());
  std::vector<unsigned char> bytes = test::read_bytes(trace);
  for (uint32_t page = 1; page <= 5; ++page) {
    const size_t at = size_t{page} * VPROF_PAGE_BYTES;
    const uint32_t serial = 2;
    const uint32_t index = page + 100;
    std::memcpy(&bytes[at + offsetof(vprof_chunk_header, thread_serial)], &serial, sizeof serial);
    std::memcpy(&bytes[at + offsetof(vprof_chunk_header, index)], &index, sizeof index);
  }
  test::write_bytes(trace, bytes);
  const auto copy = analyzer::copy_recording(directory.path(), copied.path(), 0);
  REQUIRE(copy);
  CHECK(copy->complete_since > 200 * kEach);
  CHECK(copy->complete_since < 220 * kEach);
}

TEST_CASE("copy of a recording: processes that have recorded nothing since then are left out") {
  const test::ScratchDir directory;
  const test::ScratchDir copied;
  process_with(10, 1).write(directory.path());
  const auto copy = analyzer::copy_recording(directory.path(), copied.path(), 100 * kEach);
  REQUIRE(copy);
  CHECK(copy->bytes == 0);
  CHECK(std::filesystem::is_empty(copied.path()));
}

TEST_CASE("copy of a recording: errors name the file") {
  const test::ScratchDir directory;
  CHECK_FALSE(analyzer::copy_recording(directory.path(), directory.path(), 0));
  process_with(10, 1).write(directory.path());
  const auto copy = analyzer::copy_recording(directory.path(), directory.path() + "/missing", 0);
  REQUIRE_FALSE(copy);
  CHECK(copy.error().message.find("/missing/") != std::string::npos);
}
