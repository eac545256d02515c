// What the runtime does when the system refuses something: the program runs as if nothing had
// happened, and what is missing in the trace is counted.
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>

#include "refusal.h"
#include "run.h"
#include "slow_disk.h"

using namespace vprof::test;

namespace {

void check_accounted(const Outcome& outcome) {
  REQUIRE(outcome.exit_code == 0);
  if (outcome.traces.empty()) {
    return;
  }
  const Trace& trace = outcome.traces[0];
  // What is dropped may also be a wait or the end of a thread.
  const uint64_t accounted = trace.frames() + trace.header.dropped;
  CHECK(accounted >= outcome.number("frames"));
  CHECK(accounted <= outcome.number("frames") + 50);
}

}  // namespace

TEST_CASE("a system call that always fails costs records at most") {
  constexpr int kPopulate = 23, kWipeOnFork = 18, kSetFlags = 4, kGetName = 16;
  constexpr uint32_t kMegabyte = 1 << 20;
  const Refusal refusal = GENERATE_COPY(
      Refusal{"populate, old kernel", SYS_madvise, EINVAL, 2, kPopulate},
      Refusal{"populate, no memory", SYS_madvise, ENOMEM, 2, kPopulate},
      Refusal{"populate a large chunk", SYS_madvise, EFAULT, 1, kMegabyte},
      Refusal{"wipe on fork", SYS_madvise, EINVAL, 2, kWipeOnFork},
      Refusal{"blocks ahead, full disk", SYS_fallocate, ENOSPC},
      Refusal{"blocks ahead, not known", SYS_fallocate, EOPNOTSUPP},
      Refusal{"write past the cache", SYS_fcntl, EINVAL, 1, kSetFlags},
      Refusal{"write out, bad disk", SYS_pwrite64, EIO, 2, kMegabyte},
      Refusal{"write out, full disk", SYS_pwrite64, ENOSPC, 2, kMegabyte},
      Refusal{"close many", SYS_close_range, ENOSYS},
      Refusal{"name", SYS_prctl, EINVAL, 0, kGetName}, Refusal{"truncate", SYS_ftruncate, EINVAL},
      Refusal{"rename", SYS_rename, EACCES});
  CAPTURE(refusal.what);
  Setup setup{{{"VPROF_WINDOW_MB", "1"}}, {}, {}};
  setup.before_exec = [&] { refuse(refusal); };
  check_accounted(run("two_busy_threads", countable(setup)));
}

// The helper's disk stands still. The program's own requests take longer than it has patience for,
// so it does without the disk for a second after each.
TEST_CASE("a slow disk costs records, and a moment now and then, but does not stop the program") {
  constexpr int kDelayUs = 25000;  // more than the 20 ms that count as slow
  const SharedWithPolicy<std::atomic<uint64_t>> asked;
  Setup setup;
  setup.before_exec = [&] {
    supervise_disk([&](const seccomp_notif& call) {
      if (call.pid != static_cast<uint32_t>(getppid())) {
        return false;  // the helper
      }
      ++*asked;
      usleep(kDelayUs);
      return true;
    });
  };
  const Outcome outcome = run("records_until_dropped", impatient(countable(setup)));
  check_accounted(outcome);
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.header.dropped > 0);
  CHECK(trace.frames() > 0);
  // One for the file's header. After that at most two sizes of chunks are tried, at the beginning
  // and in each second.
  CHECK(*asked >= 2);
  CHECK(*asked <= 1 + 2 * (1 + outcome.number("seconds")));
}

// Where the kernel does not preempt itself, and on one processor, nobody else runs meanwhile. With
// the disk's read-ahead, a page may come with 8 MiB more.
TEST_CASE("the helper clears memory in small pieces") {
  CHECK(run("looks_at_its_mapping").exit_code == 0);
  struct Written {
    std::atomic<uint64_t> bytes, largest;
  };
  const SharedWithPolicy<Written> written;
  Setup setup;
  setup.before_exec = [&] {
    supervise_disk([&](const seccomp_notif& call) {
      if (call.data.nr == SYS_pwrite64) {
        written->bytes += call.data.args[2];
        written->largest = std::max<uint64_t>(written->largest, call.data.args[2]);
      }
      return true;
    });
  };
  CHECK(run("waits_until_the_helper_has_made_chunks", setup).exit_code == 0);
  CHECK(written->bytes >= 64 << 10);
  CHECK(written->largest <= 64 << 10);
}

TEST_CASE("if no thread can be created, the program gets the error and runs without the helper") {
  if (kThreadSanitizer) {
    return;  // it ends the program itself
  }
  const long call = GENERATE(SYS_clone3, SYS_clone);
  Setup setup{{{"ASAN_OPTIONS", "detect_leaks=0"}}, {}, {}};  // which needs a thread itself
  setup.before_exec = [&] {
    refuse({"", SYS_clone, EAGAIN});
    if (call == SYS_clone3) {
      refuse({"", SYS_clone3, EAGAIN});
    }
  };
  const Outcome outcome = run("cannot_make_threads", setup);
  check_accounted(outcome);
  REQUIRE(outcome.traces.size() == 1);
  CHECK(outcome.traces[0].header.dropped == 0);
  CHECK(outcome.traces[0].header.stalls > 0);
  CHECK(outcome.number("failed") == (call == SYS_clone3 ? 10 : 0));
}

// Another thread may record, and end the process, before the one that starts the recording is done.
TEST_CASE("what starting the recording took is known also if the process ends meanwhile") {
  Setup setup;
  setup.before_exec = [] { refuse({"the helper's thread", SYS_clone, Refusal::kKills}); };
  const Outcome outcome = run("leaves_by_exit_at_once", setup);
  CHECK(outcome.signal == SIGSYS);
  CHECK(outcome.traces.at(0).header.set_up_ns > 0);
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they must be first
TEST_CASE("any single call that fails costs records at most") {
  const std::string function =
      GENERATE("mmap", "ftruncate", "open", "fstat", "pwrite", "rename", "madvise");
  const int error = GENERATE(ENOMEM, ENOSPC);
  for (int number = 1; number <= 6; ++number) {
    const std::string fault = function + " " + std::to_string(number) + " " + std::to_string(error);
    CAPTURE(fault);
    const Setup setup{
        {{"LD_PRELOAD", VPROF_TEST_FAULT_LIBRARY}, {"VPROF_TEST_FAULT", fault}}, {}, {}};
    check_accounted(run("cannot_make_threads", setup));
  }
}
#endif

TEST_CASE("however a process ends, its trace holds what it recorded") {
  struct End {
    const char* scenario;
    int exit_code, signal;
  };
  const End end = GENERATE(End{"leaves_by_exit_at_once", 7, 0}, End{"leaves_by_abort", -1, SIGABRT},
                           End{"leaves_by_quick_exit", 7, 0});
  const Outcome outcome = run(end.scenario);
  CHECK(outcome.signal == end.signal);
  CHECK(outcome.exit_code == end.exit_code);
  CHECK(outcome.traces.at(0).frames() == 100000);
}

TEST_CASE("a daemon has a trace of its own") {
  const Outcome outcome = run("becomes_a_daemon");
  CHECK(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 2);
  CHECK(outcome.traces[0].frames() == 10);
  CHECK(outcome.traces[1].frames() == 100000);
}

TEST_CASE("a program that gives up its rights keeps its trace") {
  if (geteuid() != 0) {
    WARN("not checked: needs root");
    return;
  }
  const TemporaryDirectory root;
  const std::string scenario = GENERATE("changes_user", "changes_root");
  const Outcome outcome = run(
      scenario, {{{"VPROF_TEST_ROOT", root.path()}, {"ASAN_OPTIONS", "detect_leaks=0"}}, {}, {}});
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 1);
  CHECK(outcome.traces[0].frames() == 100010);
}

// Privilege-separating daemons do so before they do anything else.
TEST_CASE("a new root before the first record loses nothing, also of children") {
  if (geteuid() != 0) {
    WARN("not checked: chroot needs root");
    return;
  }
  const TemporaryDirectory root;
  const Setup setup{{{"VPROF_TEST_ROOT", root.path()}, {"ASAN_OPTIONS", "detect_leaks=0"}}, {}, {}};
  const Outcome outcome = run("changes_root_first", setup);
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 2);
  const uint64_t first = outcome.traces[0].frames();
  const uint64_t second = outcome.traces[1].frames();
  CHECK(std::min(first, second) == 10);
  CHECK(std::max(first, second) == 100000);
  for (const Trace& trace : outcome.traces) {
    CHECK(trace.file_bytes < 64u << 20);  // cut at exit
  }
  const Outcome nothing = run("changes_root_for_nothing", setup);
  CHECK(nothing.exit_code == 0);
  CHECK(nothing.traces.empty());
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they make system calls
TEST_CASE("under a filter that kills, the program lives and its records are kept") {
  const Outcome outcome = run("confines_itself_first", countable());
  REQUIRE(outcome.signal == 0);
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 1);
  const Trace& trace = outcome.traces[0];
  CHECK(trace.frames() > 1000);
  CHECK(trace.frames() + trace.header.dropped <= 100000);

  const Outcome forked = run("confines_itself_and_forks", countable());
  REQUIRE(forked.exit_code == 0);
  REQUIRE(forked.traces.size() == 1);
  CHECK(forked.traces[0].frames() == 10);
}
#endif

TEST_CASE("a read-only trace directory is reported once, and the program runs") {
  const TemporaryDirectory directory;
  if (mount("tmpfs", directory.path().c_str(), "tmpfs", MS_RDONLY, "size=1m") != 0) {
    WARN("not checked: no permission to mount");
    return;
  }
  const Outcome outcome = run("nested", {{}, {}, directory.path()});
  umount(directory.path().c_str());
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output.find("vprof: VPROF_TRACE_DIR=") == 0);
  CHECK(outcome.output.find("Read-only file system; nothing is recorded") != std::string::npos);
  CHECK(outcome.number("leaves") == 4000);
}

TEST_CASE("instrumented libraries come and go") {
  const Outcome outcome = run("loads_a_library");
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.traces.at(0).frames(70) == 6);
  CHECK(outcome.traces.at(0).frames(71) == 6000);
}

#if !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)  // their runtime is in the library only
TEST_CASE("a program that is not instrumented may load a library that is") {
  Setup setup;
  setup.before_exec = [] {
    execl(VPROF_TEST_PLUGIN_HOST, VPROF_TEST_PLUGIN_HOST, VPROF_TEST_PLUGIN,
          static_cast<char*>(nullptr));
  };
  const Outcome outcome = run("", setup);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.traces.at(0).frames(71) == 2000);
}
#endif
