// Damaged, foreign and missing files.
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <random>

#include "helpers.h"
#include "simulator.h"
#include "trace/trace_file.h"
#include "trace_writer.h"

using namespace vprof;

namespace {

struct Files {
  test::ScratchDir dir;
  test::SitesWriter sites;
  test::ProcessWriter process;
  uint32_t f = sites.function_site(sites.function("f"));

  Files() {
    auto& t = process.thread(1);
    for (int i = 0; i < 20; ++i) {
      t.begin(1, 100 * i);
      t.frame(f, 100 * i + 10, 100 * i + 60);
      t.end(1, 100 * i + 70 + i);
    }
  }
  Result<analyzer::Profile> run() const {
    return analyzer::analyze(dir.path(), sites.write(dir.path()), {});
  }
  std::string error_of(const std::vector<unsigned char>& bytes) const {
    test::write_bytes(dir.path("1-2.vpt"), bytes);
    const auto result = run();
    REQUIRE(!result);
    CHECK(result.error().message.find('\n') == std::string::npos);
    CHECK(result.error().message.find("1-2.vpt") != std::string::npos);
    return result.error().message;
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("reader: errors for a missing directory, trace, sites.json or interval") {
  Files files;
  CHECK(contains(files.run().error().message, "no trace"));
  CHECK(contains(analyzer::analyze(files.dir.path("none"), files.sites.write(files.dir.path()), {})
                     .error()
                     .message,
                 "cannot read the trace directory"));
  files.process.write(files.dir.path());
  CHECK(
      contains(analyzer::analyze(files.dir.path(), files.dir.path("none.json"), {}).error().message,
               "none.json"));
  test::write_bytes(files.dir.path("bad.json"), {'{', '"', 's'});
  CHECK(
      contains(analyzer::analyze(files.dir.path(), files.dir.path("bad.json"), {}).error().message,
               "bad.json"));
  files.process.threads.clear();
  files.process.thread(1).begin(1, 10);
  files.process.write(files.dir.path());
  const std::string error = files.run().error().message;
  CHECK(contains(error, "no completed interval 'request' (1 incomplete)"));
}

TEST_CASE("reader: foreign files are refused with one line that names them") {
  const Files files;
  const auto good = files.process.bytes();
  const auto with = [&](size_t offset, auto value) {
    auto bytes = good;
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
    return files.error_of(bytes);
  };
  CHECK(contains(with(0, uint64_t{0x464c457f}), "not a trace"));
  CHECK(contains(with(0, __builtin_bswap64(VPROF_TRACE_MAGIC)), "other byte order"));
  CHECK(contains(with(offsetof(vprof_file_header, endian), uint32_t{0x04030201}),
                 "other byte order"));
  CHECK(contains(with(offsetof(vprof_file_header, version), uint32_t{1}), "version 1"));
  CHECK(contains(with(offsetof(vprof_file_header, slot_bytes), uint32_t{24}), "24 bytes"));
  CHECK(contains(files.error_of({}), "empty"));
  CHECK(contains(files.error_of({good.begin(), good.begin() + 100}), "cut off"));
}

TEST_CASE("reader: nothing of an intact file is lost") {
  Files files;
  files.process.slots_per_chunk = 20;
  files.process.header.chunks = 7;
  files.process.header.stalls = 2;
  files.process.header.record_ticks_x256 = 25 * 256;
  files.process.write(files.dir.path());
  const auto profile = files.run();
  REQUIRE(profile);
  CHECK(profile->interval.count == 20);
  CHECK(profile->losses.torn == 0);
  CHECK(profile->losses.unreadable_bytes == 0);
  CHECK(profile->overhead.records == 60);
  CHECK(profile->overhead.chunks == 7);
  CHECK(profile->overhead.stalls == 2);
  CHECK(profile->overhead.record_ns == 25);
}

TEST_CASE("reader: more processes than files kept open") {
  Files files;
  constexpr uint32_t kProcesses = 300;
  for (uint32_t pid = 1; pid <= kProcesses; ++pid) {
    test::ProcessWriter process(pid);
    auto& t = process.thread(1);
    t.begin(pid, 100 * pid);
    t.frame(files.f, 100 * pid + 10, 100 * pid + 60);
    t.end(pid, 100 * pid + 70);
    process.write(files.dir.path());
  }
  const auto profile = files.run();
  REQUIRE(profile);
  CHECK(profile->interval.count == kProcesses);
  CHECK(profile->overhead.records == 3 * kProcesses);
  CHECK(profile->losses.unreadable_bytes == 0);
}

TEST_CASE("reader: slots of a truncated file read as zeros and count as missing") {
  Files files;
  files.process.write(files.dir.path());
  const std::string path = std::filesystem::directory_iterator(files.dir.path())->path().string();
  const auto file = analyzer::File::open(path);
  REQUIRE(file);
  std::vector<vprof_slot> slots;
  const analyzer::Slots first{VPROF_FILE_HEADER_BYTES + sizeof(vprof_chunk_header), 10};
  CHECK(analyzer::read_slots(**file, first, slots) == 0);
  CHECK(slots.size() == 10);
  CHECK(slots[9].word1 != 0);
  std::filesystem::resize_file(path, first.offset + 4 * sizeof(vprof_slot) + 3);
  CHECK(analyzer::read_slots(**file, first, slots) == 6 * sizeof(vprof_slot) - 3);
  CHECK(slots[3].word1 != 0);
  CHECK(slots[9].word1 == 0);
}

TEST_CASE("reader: losses within a file are counted") {
  Files files;
  auto& t = files.process.thread(1);
  SECTION("a record that was being written") {
    t.torn();
    t.begin(2, 5000);
    t.end(2, 5010);
    t.torn();  // the end of the chunk, as nothing follows
    files.process.write(files.dir.path());
    CHECK(files.run()->losses.torn == 1);
  }
  SECTION("a continuation without its head, and a head without its continuation") {
    t.torn();
    t.cont(7);
    t.slot(5000, VPROF_EV_BEGIN, 0);
    files.process.write(files.dir.path());
    CHECK(files.run()->losses.torn == 3);
  }
  SECTION("records that found no room") {
    t.slot(5000, VPROF_EV_DROPPED, 17);
    files.process.write(files.dir.path());
    CHECK(files.run()->losses.dropped == 17);
    CHECK(files.run()->overhead.dropped == 17);
  }
  SECTION("unknown events and sites, and events with unknown extra words") {
    t.slot(5000, VPROF_EV_FIRST + 0x999, 1);
    t.cont(1);
    t.frame(777, 5000, 5001);
    t.slot(5000, VPROF_EV_SWITCH, 0);
    t.cont(0);
    t.cont(99);
    files.process.write(files.dir.path());
    const auto profile = files.run();
    CHECK(profile->losses.torn == 0);
    REQUIRE(profile->losses.notes.size() >= 2);
    CHECK(contains(profile->losses.notes[0], "2 records of sites or events"));
  }
  SECTION("a damaged chunk header: the chunks after it are found again") {
    files.process.slots_per_chunk = 250;
    for (int i = 0; i < 200; ++i) {
      t.begin(1, 10000 + 100 * i);
      t.end(1, 10000 + 100 * i + 70);
    }
    auto bytes = files.process.bytes();
    REQUIRE(bytes.size() == VPROF_FILE_HEADER_BYTES + 4 * VPROF_PAGE_BYTES);
    bytes[VPROF_FILE_HEADER_BYTES + VPROF_PAGE_BYTES + 5] ^= 0x40;
    test::write_bytes(files.dir.path("1-2.vpt"), bytes);
    const auto profile = files.run();
    CHECK(profile->losses.unreadable_bytes == VPROF_PAGE_BYTES);
    CHECK(profile->interval.count > 100);
    CHECK(profile->interval.count < 220);
  }
  REQUIRE(files.run());
}

TEST_CASE("reader: a frame of 2^40 ticks or more") {
  Files files;
  files.process.threads.clear();
  auto& t = files.process.thread(1);
  const int64_t hours = int64_t{1} << 41;
  t.begin(1, 0);
  t.slot(10, VPROF_EV_LONG_FRAME, files.f);
  t.cont(static_cast<uint64_t>(hours));
  t.end(1, hours + 30);
  files.process.write(files.dir.path());
  const auto profile = files.run();
  REQUIRE(profile);
  CHECK(test::leaves(*profile).at("request/f") == hours);
}

TEST_CASE("reader: ticks follow the clock snapshots") {
  Files files;
  files.process.threads.clear();
  files.process.header.ticks_per_second = 2'000'000'000;
  auto& helper = files.process.thread(0);
  helper.slot(1000, VPROF_EV_CLOCK, 0);
  helper.cont(1000);
  helper.cont(5);
  auto& t = files.process.thread(1);
  t.begin(1, 500);
  t.end(1, 1500);
  files.process.write(files.dir.path());
  CHECK(files.run()->interval.mean_ns == Approx(1000).margin(1));
}

TEST_CASE("reader: of a file truncated anywhere, it reads what is whole") {
  const test::Simulator program(5);
  test::ScratchDir dir;
  const std::string sites = program.write(dir.path());
  const std::string path = dir.path("100-0.vpt");
  const std::vector<unsigned char> bytes = test::read_bytes(path);
  uint64_t before = 0;
  const size_t step = test::kEvery * (bytes.size() / 700 + 1);
  for (size_t size = VPROF_FILE_HEADER_BYTES; size <= bytes.size(); size += step) {
    test::write_bytes(path, {bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)});
    const auto profile = analyzer::analyze(dir.path(), sites, {});
    if (!profile) {
      continue;
    }
    // A partial chunk header counts as unreadable, too.
    CHECK(profile->losses.unreadable_bytes >= bytes.size() - size);
    CHECK(profile->losses.unreadable_bytes < bytes.size() - size + sizeof(vprof_chunk_header));
    CHECK(test::worst_violation(*profile) < 1e-9);
    CHECK(profile->overhead.records >= before);
    before = profile->overhead.records;
  }
  CHECK(before > 0);
}

TEST_CASE("reader: with any bits flipped it does not crash, and times still add up") {
  std::mt19937_64 random(9);
  for (uint64_t seed = 1; seed <= 20; seed += test::kEvery) {
    const test::Simulator program(seed);
    test::ScratchDir dir;
    const std::string sites = program.write(dir.path());
    const std::string path = dir.path("100-0.vpt");
    const std::vector<unsigned char> good = test::read_bytes(path);
    for (int round = 0; round < 15; ++round) {
      auto bytes = good;
      const uint64_t flips = 1 + random() % 40;
      for (uint64_t i = 0; i < flips; ++i) {
        // Mostly in the chunks, sometimes in the header.
        const size_t at =
            random() % 4 == 0
                ? random() % bytes.size()
                : VPROF_FILE_HEADER_BYTES + random() % (bytes.size() - VPROF_FILE_HEADER_BYTES);
        bytes[at] ^= static_cast<unsigned char>(1u << random() % 8);
      }
      test::write_bytes(path, bytes);
      const auto profile = analyzer::analyze(dir.path(), sites, {});
      if (!profile) {
        CHECK_FALSE(profile.error().message.empty());
        continue;
      }
      INFO("seed " << seed << " round " << round);
      for (const std::string& note : profile->losses.notes) {
        CHECK_FALSE(contains(note, "do not add up"));
      }
    }
  }
}
