#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "run.h"
#include "slow_disk.h"

using namespace vprof::test;

namespace {

// Every frame of all processes but the first is in its trace.
void check_children_complete(const std::vector<Trace>& traces, uint64_t made) {
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
  CHECK((kThreadSanitizer || dropped == 0));
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
    // Also of one that lives for less than a millisecond and leaves by _exit().
    CHECK(child.header.set_up_ns > 0);
    CHECK((kThreadSanitizer || child.header.processor_ns - child.header.start_processor_ns >
                                   child.header.set_up_ns));  // its thread may still be starting it
  }
  check_children_complete(outcome.traces, 500 * 7 + 500 * 2000);
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
  check_children_complete(outcome.traces, 50 * 300 + 5 * 5);
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

namespace {

// The program counts its records itself, in shared memory that survives it.
class Counters {
 public:
  Counters() : path_(directory_.path() + "/counters") {
    std::ofstream(path_) << std::string(4096, '\0');
    const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0);
    memory_ = static_cast<const std::atomic<uint64_t>*>(
        mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
    close(fd);
    REQUIRE(memory_ != MAP_FAILED);
  }
  ~Counters() { munmap(const_cast<std::atomic<uint64_t>*>(memory_), 4096); }
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  const std::string& path() const { return path_; }
  uint64_t made() const { return memory_[0] + memory_[64]; }  // of each of the two threads

 private:
  TemporaryDirectory directory_;
  std::string path_;
  const std::atomic<uint64_t>* memory_ = nullptr;
};

Setup counting(const Counters& counters) {
  return with_disk(
      countable({{{"VPROF_TEST_COUNTERS", counters.path()}, {"VPROF_WINDOW_MB", "1"}}, {}, {}}));
}

// Each thread may have made a record that it had not counted yet.
void check_killed(const Outcome& outcome, const Counters& counters) {
  CHECK(outcome.signal == SIGKILL);
  const uint64_t made = counters.made();
  if (outcome.traces.empty()) {  // killed before the first record
    CHECK(made == 0);
    return;
  }
  const Trace& trace = outcome.traces[0];
  CHECK(trace.header.dropped == 0);
  CHECK(trace.frames() >= made);
  CHECK(trace.frames() <= made + 2);
  for (const Thread& thread : trace.threads) {
    CHECK(thread.holes <= 1);
  }
}

}  // namespace

TEST_CASE("whatever a program has recorded when it is killed, its trace holds every record") {
  std::mt19937 random(20191);
  [[maybe_unused]] uint64_t archived = 0;
  for (int round = 0; round < 25; ++round) {
    const Counters counters;
    const uint64_t enough = std::uniform_int_distribution<uint64_t>(0, 500000)(random);
    Setup setup = counting(counters);
    setup.kill_when = [&] { return counters.made() >= enough; };
    const Outcome outcome = run("counts_until_killed", setup);
    check_killed(outcome, counters);
    archived += outcome.traces.empty() ? 0 : outcome.traces[0].header.archived;
  }
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // too slow to fill a chunk
  CHECK(archived > 0);
#endif
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they use the same calls
TEST_CASE(
    "in whichever of its calls for the disk a program is killed, its trace holds every record") {
  for (uint64_t fatal = 1; fatal <= 24; ++fatal) {
    CAPTURE(fatal);
    const Counters counters;
    Setup setup = counting(counters);
    setup.before_exec = [&] {
      supervise_disk([&, asked = uint64_t{0}](const seccomp_notif&) mutable {
        if (++asked == fatal) {
          kill(getppid(), SIGKILL);
        }
        return true;
      });
    };
    check_killed(run("counts_until_killed", setup), counters);
  }
}
#endif

TEST_CASE("full chunks are written out and their memory is used again") {
  const Outcome outcome = run("long_trace", with_disk({{{"VPROF_WINDOW_MB", "4"}}, {}, {}}));
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.frames() == outcome.number("frames"));
  CHECK(trace.header.dropped == 0);
  CHECK(trace.header.archived > 30);
  CHECK(trace.threads.at(0).holes == 0);
  // Each record takes 16 bytes. Chunks and copies may alternate, which leaves some room between
  // them.
  CHECK(trace.file_bytes < 24 * trace.frames() + (24u << 20));
}

TEST_CASE("a ring keeps the last records of each thread") {
  const Outcome outcome =
      run("long_trace", countable({{{"VPROF_RING_MB", "4"}, {"VPROF_TRACE_MB", "16"}}, {}, {}}));
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  // Each chunk begins with a note of what it took to get it. The last one is of the exit.
  const uint64_t set_up = trace.all(VPROF_EV_SETUP).size();
  const uint64_t expected = outcome.number("frames") + trace.header.chunks;
  const uint64_t found = trace.frames() + set_up + trace.header.overwritten;
  CHECK(found >= expected);
  CHECK(found <= expected + 1);
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

TEST_CASE("a trace directory that cannot be written is reported once, and the program runs") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/file") << "x";
  const std::string bad = directory.path() + GENERATE("/missing", "/file");
  const Outcome outcome = run("nested", {{{"VPROF_TRACE_DIR", bad}}, {}, {}});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.number("leaves") == 4000);
  CHECK(outcome.output.find("vprof: VPROF_TRACE_DIR=" + bad) == 0);
}

// Root may write anywhere: it passes the check at the start, and then fails to make the file.
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
}

TEST_CASE("a full trace does not slow the program down much", "[soak]") {
  const Outcome outcome = run("gets_slower", countable({{{"VPROF_TRACE_MB", "16"}}, {}, {}}));
  REQUIRE(outcome.exit_code == 0);
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
  for (int i = 0; i < 10; ++i) {
    const Outcome outcome = run("exits_while_threads_record", {{{"VPROF_TRACE_MB", "32"}}, {}, {}});
    REQUIRE(outcome.exit_code == 0);
    REQUIRE(outcome.traces.size() == 1);
    CHECK(outcome.traces[0].file_bytes == outcome.traces[0].header.used);
    CHECK(outcome.traces[0].frames() >= 1000);
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

TEST_CASE("ring: threads that have ended keep as much as one thread") {
  const Outcome outcome =
      run("many_short_threads",
          countable({{{"VPROF_RING_MB", "1"}, {"VPROF_TRACE_MB", "64"}}, {}, {}}));
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.frames() + trace.header.overwritten + trace.header.dropped >=
        outcome.number("frames"));
  CHECK(trace.header.overwritten > 0);
  CHECK(trace.file_bytes < 8u << 20);  // all threads together record 19 MB
  // The threads that are kept are the last ones, and each of them is whole.
  REQUIRE(trace.threads.size() > 2);
  CHECK(trace.threads.back().frames().size() == 6000);
}
