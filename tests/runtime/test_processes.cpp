#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "run.h"

using namespace vprof::test;

namespace {

// Every frame of all processes but the first is in its trace, or counted where the disk stood still for a moment.
void check_children_accounted(const std::vector<Trace>& traces, uint64_t made) {
  const Trace& parent = root_of(traces);
  uint64_t frames = 0;
  uint64_t dropped = 0;  // also records of other kinds
  for (const Trace& trace : traces) {
    if (&trace == &parent) {
      continue;
    }
    frames += trace.frames();
    dropped += trace.header.dropped;
  }
  CHECK(frames <= made);
  CHECK(frames + dropped >= made);
  CHECK(frames >= made / 20 * 19);
}

}  // namespace

TEST_CASE("each of 1,000 forked children has a trace of its own") {
  const Outcome outcome = run("forks");
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 1001);
  const Trace& parent = root_of(outcome.traces);
  CHECK(parent.frames() == 1010);
  for (const Trace& child : outcome.traces) {
    if (child.header.pid == parent.header.pid) {
      continue;
    }
    CHECK(child.header.parent_pid == parent.header.pid);
    CHECK(child.header.family == parent.header.family);
    CHECK((kThreadSanitizer || child.threads.size() == 1));
    CHECK((kThreadSanitizer || child.threads.at(0).tid == child.header.pid));
  }
  check_children_accounted(outcome.traces, 500 * 7 + 500 * 2000);
}

TEST_CASE("fork from a process with busy threads") {
  const Outcome outcome = run("forks_with_threads", countable());
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 1 + 50 + 5);
  const Trace& parent = root_of(outcome.traces);
  CHECK(parent.frames() + parent.header.dropped == outcome.number("frames"));
  for (const Thread& thread : parent.threads) {
    CHECK(thread.holes == 0);
  }
  check_children_accounted(outcome.traces, 50 * 300 + 5 * 5);
}

TEST_CASE("a child of vfork records as its parent") {
  if (kThreadSanitizer) {
    return;
  }
  const Outcome outcome = run("vfork_child");
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 1);
  CHECK(outcome.traces[0].frames() == 21);
}

TEST_CASE("signals around fork are accounted for") {
  const Outcome outcome = run("forks_under_signals", countable());
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 101);
  const uint32_t parent = root_of(outcome.traces).header.pid;
  for (const Trace& trace : outcome.traces) {
    const bool is_parent = trace.header.pid == parent;
    const uint64_t expected = is_parent ? outcome.number("frames") : 20;
    const uint64_t counted = trace.frames() + trace.header.dropped;
    CAPTURE(is_parent, counted, expected, trace.header.dropped);
    CHECK((kThreadSanitizer && !is_parent ? counted >= expected : counted == expected));
  }
}

TEST_CASE("what was recorded survives SIGKILL") {
  const Outcome outcome = run("killed", {{{"VPROF_TRACE_MB", "64"}}, {}, {}});
  CHECK(outcome.signal == SIGKILL);
  REQUIRE(outcome.traces.size() == 1);
  const Trace& trace = outcome.traces[0];
  CHECK(trace.frames() == 100000);
  CHECK(trace.header.used < trace.file_bytes);
  CHECK(trace.file_bytes == trace.header.capacity);
}

// The program counts its records itself, in shared memory that survives it.
TEST_CASE("at whatever moment a program is killed, its trace holds every record it made") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/counters";
  std::mt19937 random(20191);
  constexpr int kRounds = 200;
  uint64_t archived = 0;
  int whole = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::ofstream(path) << std::string(4096, '\0');
    Setup setup = with_disk({{{"VPROF_TEST_COUNTERS", path}, {"VPROF_WINDOW_MB", "1"}}, {}, {}});
    setup.kill_after_us = std::uniform_int_distribution<int>(500, 25000)(random);
    const Outcome outcome = run("counts_until_killed", setup);
    CHECK(outcome.signal == SIGKILL);
    std::ifstream file(path, std::ios::binary);
    uint64_t made[2] = {};
    for (const int i : {0, 1}) {
      file.seekg(i * 512);
      file.read(reinterpret_cast<char*>(&made[i]), sizeof made[i]);
    }
    if (outcome.traces.empty()) {  // killed before the first record
      CHECK(made[0] + made[1] == 0);
      ++whole;
      continue;
    }
    const Trace& trace = outcome.traces[0];
    archived += trace.header.archived;
    // Where the machine or its disk stands still there is no room for some, and they are counted.
    whole += trace.header.dropped == 0 ? 1 : 0;
    const uint64_t counted = trace.frames() + trace.header.dropped;
    CAPTURE(trace.header.dropped);
    CHECK(counted >= made[0] + made[1]);
    CHECK(counted <= made[0] + made[1] + 2);
    for (const Thread& thread : trace.threads) {
      CHECK(thread.holes <= 1);
    }
  }
  CHECK(whole >= kRounds / 2);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // too slow to fill a chunk
  CHECK(archived > 0);
#endif
}

TEST_CASE("full chunks are written out and their memory is used again") {
  Outcome outcome;
  for (int turn = 0; turn < 4; ++turn) {  // again where the disk was too slow for some records
    outcome = run("long_trace", with_disk({{{"VPROF_WINDOW_MB", "4"}}, {}, {}}));
    REQUIRE(outcome.exit_code == 0);
    if (outcome.traces.at(0).header.dropped == 0) {
      break;
    }
  }
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.frames() == outcome.number("frames"));
  CHECK(trace.header.dropped == 0);
  CHECK(trace.header.archived > 40);
  CHECK(trace.threads.at(0).holes == 0);
  // Half of them at the least: where the disk is slow, or chunks and copies alternate, some room is left between them.
  CHECK(trace.file_bytes < 24 * trace.frames() + (24u << 20));
}

TEST_CASE("a ring keeps the last records of each thread") {
  const Outcome outcome =
      run("long_trace", countable({{{"VPROF_RING_MB", "4"}, {"VPROF_TRACE_MB", "16"}}, {}, {}}));
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.frames() + trace.header.overwritten == outcome.number("frames"));
  CHECK(trace.header.dropped == 0);
  CHECK(trace.frames() * 16 > 3u << 20);
  CHECK(trace.threads.at(0).frames().back().id == 2);
  CHECK(trace.file_bytes <= 16u << 20);
}

TEST_CASE("a program may close all descriptors") {
  const Outcome outcome = run("closes_all_descriptors");
  CHECK(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 2);
  CHECK(outcome.traces[0].frames() == 100010);
  CHECK(outcome.traces[1].frames() == 10);
}

TEST_CASE("a relative directory is meant from where the program started") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() + "/trace");
  Setup setup{{{"VPROF_TRACE_DIR", "trace"}}, {}, directory.path() + "/trace"};
  setup.before_exec = [&] {
    if (chdir(directory.path().c_str()) != 0) {
      _exit(99);
    }
  };
  const Outcome outcome = run("changes_directory", setup);
  CHECK(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 1);
  CHECK(outcome.traces[0].frames() == 10);
}

TEST_CASE("a trace directory that cannot be written is said once, and the program runs") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/file") << "x";
  const std::string bad = directory.path() + GENERATE("/missing", "/file");
  const Outcome outcome = run("nested", {{{"VPROF_TRACE_DIR", bad}}, {}, {}});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.number("leaves") == 4000);
  CHECK(outcome.output.find("vprof: VPROF_TRACE_DIR=" + bad) == 0);
}

// Whoever may write anywhere (root) gets past the check at start, and fails to make the file.
TEST_CASE("a directory in which no file can be made stops tracing, not the program") {
  const Outcome outcome = run("nested", {{{"VPROF_TRACE_DIR", "/proc"}}, {}, {}});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.number("leaves") == 4000);
  CHECK(run("mutex_storm", {{{"VPROF_TRACE_DIR", "/proc"}}, {}, {}}).exit_code == 0);
}

TEST_CASE("a full trace drops and counts") {
  const Outcome outcome = run("many_frames", countable({{{"VPROF_TRACE_MB", "16"}}, {}, {}}));
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.file_bytes <= 16u << 20);
  CHECK(trace.header.dropped > 0);
  CHECK(trace.frames() + trace.header.dropped == outcome.number("frames"));
  CHECK(trace.frames() > 900000);  // nearly all of the 16 MB was used
  CHECK((kThreadSanitizer || outcome.number("times_slower") < 10));
}

TEST_CASE("RLIMIT_FSIZE is kept") {
  const auto bytes = GENERATE(rlim_t{0}, rlim_t{4096}, rlim_t{300000}, rlim_t{4000000});
  if (kThreadSanitizer && bytes == 0) {
    return;  // it writes a file of its own
  }
  Setup setup;
  setup.before_exec = [&] {
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  const Outcome outcome = run("many_frames", countable(setup));
  REQUIRE(outcome.exit_code == 0);
  if (bytes < 2 * VPROF_PAGE_BYTES) {
    CHECK(outcome.traces.empty());
    return;
  }
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.file_bytes <= bytes);
  CHECK(trace.frames() > 0);
  CHECK(trace.frames() + trace.header.dropped == outcome.number("frames"));
}

#if !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)  // these need terabytes of addresses for themselves
TEST_CASE("less address space than wanted means a smaller trace") {
  Setup setup;
  setup.environment["VPROF_TRACE_MB"] = "8192";
  setup.before_exec = [] {
    const rlimit limit{1u << 30, 1u << 30};
    setrlimit(RLIMIT_AS, &limit);
  };
  const Outcome outcome = run("many_frames", countable(setup));
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.traces.at(0).header.capacity < 1u << 30);
  CHECK(outcome.traces.at(0).frames() == outcome.number("frames"));
}
#endif

namespace {

struct Unmount {  // also where a check fails
  ~Unmount() { umount(path.c_str()); }
  std::string path;
};

}  // namespace

TEST_CASE("a full disk drops and counts") {
  const TemporaryDirectory directory;
  if (mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=2m") != 0) {
    WARN("not checked: no permission to mount a small disk");
    return;
  }
  const Unmount unmount{directory.path()};
  {
    const Outcome outcome = run("many_frames", countable({{}, {}, directory.path()}));
    CHECK(outcome.exit_code == 0);
    REQUIRE(outcome.traces.size() == 1);
    const Trace& trace = outcome.traces[0];
    CHECK(trace.frames() > 10000);
    CHECK(trace.header.dropped > 0);
    CHECK(trace.frames() + trace.header.dropped == outcome.number("frames"));
  }
}

TEST_CASE("exit while other threads record") {
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome = run("exits_while_threads_record", {{{"VPROF_TRACE_MB", "32"}}, {}, {}});
    REQUIRE(outcome.exit_code == 0);
    REQUIRE(outcome.traces.size() == 1);
    CHECK(outcome.traces[0].file_bytes == outcome.traces[0].header.used);
    CHECK(outcome.traces[0].frames() > 1000);
  }
}

TEST_CASE("the helper does not keep a process alive whose threads have all ended") {
  if (kThreadSanitizer) {
    return;  // its own thread, which is a pthread, does
  }
  const Outcome outcome = run("main_leaves_by_pthread_exit");
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.traces.at(0).frames() == 2);
}

TEST_CASE("a program that replaces itself leaves two traces") {
  const Outcome outcome = run("execs");
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 2);
  CHECK(outcome.traces[0].frames() == 10);
  CHECK(outcome.traces[1].frames() == 6000);
  CHECK(outcome.traces[0].header.pid == outcome.traces[1].header.pid);
}

TEST_CASE("a process that records nothing leaves no file") { CHECK(run("nothing").traces.empty()); }
