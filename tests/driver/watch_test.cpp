// What the flight recorder takes for slow, and what it keeps.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "pipeline/recordings/kept_recordings.h"
#include "search/live/target.h"
#include "search/live/watch/ended_processes.h"
#include "search/live/watch/processor_history.h"
#include "search/live/watch/slow_bound.h"
#include "temporary.h"
#include "vprof/runtime/trace_format.h"

using namespace vprof;
using namespace vprof::driver;

namespace {

/// Its number.
pid_t ended_process() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, 0);
  return pid;
}

}  // namespace

TEST_CASE("slow is a latency, or a percentile of a thousand intervals and more") {
  analyzer::Profile profile;
  profile.interval.count = 999;
  profile.interval.p999_ns = 7e6;
  CHECK(SlowBound::parse("50ms")->ns(profile) == 50e6);
  CHECK(SlowBound::parse("1.5s")->ns(profile) == 1.5e9);
  CHECK(SlowBound::parse("200us")->ns(profile) == Approx(200e3));
  CHECK(std::isinf(SlowBound::parse("p99.9")->ns(profile)));
  profile.interval.count = 1000;
  CHECK(SlowBound::parse("p99.9")->ns(profile) == 7e6);
  CHECK_FALSE(SlowBound::parse("fast"));
}

TEST_CASE("kept recordings: the oldest ones go when there is no more room") {
  const test::Temporary directory;
  const Workspace workspace(directory.path());
  const auto keep = [&](size_t bytes) {
    REQUIRE(make_directories(workspace.window()));
    REQUIRE(write_file_atomic(workspace.window() / "1-2.vpt", std::string(bytes, 'x')));
    REQUIRE(write_file_atomic(workspace.window() / "sites.json", "{}"));
    return *keep_recording(workspace, workspace.window(), 1000);
  };
  const fs::path first = keep(400);
  const fs::path second = keep(400);
  CHECK(kept_recordings(workspace) == std::vector<fs::path>{first, second});
  const fs::path third = keep(400);
  CHECK(kept_recordings(workspace) == std::vector<fs::path>{second, third});
  // The newest one stays, however large it is.
  const fs::path large = keep(4000);
  CHECK(kept_recordings(workspace) == std::vector<fs::path>{large});
  CHECK(recordings_of(workspace, 1, true) == std::vector<fs::path>{large});
  CHECK(recordings_of(workspace, 1, false).empty());
}

TEST_CASE("processor time is that of the window, though it is read later") {
  constexpr int64_t kSecond = 1'000'000'000;
  ProcessorHistory history;
  CHECK(history.between(0, kSecond) == 0);
  history.note(10 * kSecond, 5e9);  // before the first note: nobody knows when
  history.note(11 * kSecond, 0.8e9);
  history.note(12 * kSecond, 0.8e9);
  history.note(13 * kSecond, 0);  // the program was stopped
  history.note(14 * kSecond, 0.2e9);
  CHECK(history.between(10 * kSecond, 12 * kSecond) == Approx(1.6e9));
  CHECK(history.between(21 * kSecond / 2, 23 * kSecond / 2) == Approx(0.8e9));
  CHECK(history.between(12 * kSecond, 13 * kSecond) == 0);
  CHECK(history.between(13 * kSecond, 27 * kSecond / 2) == Approx(0.1e9));
  CHECK(history.between(0, 20 * kSecond) == Approx(1.8e9));
  history.forget_before(25 * kSecond / 2);
  CHECK(history.between(25 * kSecond / 2, 14 * kSecond) == Approx(0.2e9));
}

TEST_CASE("the work of processes that have ended since is what their traces say") {
  const test::Temporary directory;
  const auto write = [&](const std::string& name, uint64_t processor_ns, uint64_t begun) {
    vprof_file_header header{};
    header.processor_ns = processor_ns;
    header.begun[3].intervals = begun;
    const std::string_view bytes(reinterpret_cast<const char*>(&header), sizeof header);
    REQUIRE(write_file_atomic(directory / name, std::string(bytes)));
  };
  const auto ended = std::to_string(ended_process());
  write(ended + "-1.vpt", 5000, 1);
  WorkSince since(directory.path());
  CHECK(since.done().processor_ns == 0);
  write(ended + "-2.vpt", 700, 2);
  write(ended + "-3.vpt", 30, 0);
  CHECK(since.done().processor_ns == 730);
  CHECK(since.step().begun == 2);
  CHECK(since.done().begun == 0);
  // Of one that runs, the kernel knows better.
  write(std::to_string(::getpid()) + "-1.vpt", 1, 4);
  const Work work = since.done();
  CHECK(work.processor_ns > 1000);
  CHECK(work.begun == 4);
  CHECK(work.to > work.from);
  CHECK(since.done().from == work.from);
  since.step();
  CHECK(since.done().from >= work.to);
}

TEST_CASE("traces of processes that end during a watch go, those of others stay") {
  const test::Temporary directory;
  const auto file = [&](pid_t pid) {
    const fs::path path = directory / (std::to_string(pid) + "-1.vpt");
    REQUIRE(write_file_atomic(path, "x"));
    return path;
  };
  const auto start = [&](const std::string& trace) {
    const std::string variable = "VPROF_TRACE_DIR=" + trace;
    const char* environment[] = {variable.c_str(), nullptr};
    const char* arguments[] = {"cat", nullptr};  // ends with what it reads from
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    pid_t pid = 0;
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    REQUIRE(::posix_spawnp(&pid, "cat", &actions, nullptr, const_cast<char**>(arguments),
                           const_cast<char**>(environment)) == 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[0]);
    return std::pair(pid, ends[1]);
  };
  const fs::path earlier = file(ended_process());
  EndedProcesses processes(directory.path(), 30);
  const fs::path later = file(ended_process());
  // In a container, the number may be that of another process outside.
  const auto stranger = start("/elsewhere");
  const fs::path unknown = file(stranger.first);
  REQUIRE(processes.sweep(0));
  REQUIRE(processes.sweep(50));
  CHECK(fs::exists(later));
  const auto ours = start(directory.path().string());
  const fs::path running = file(ours.first);
  const fs::path other = directory / "sites.json";
  REQUIRE(write_file_atomic(other, "x"));
  REQUIRE(processes.sweep(100));
  const fs::path last = file(ended_process());
  REQUIRE(processes.sweep(129));
  CHECK(fs::exists(later));
  REQUIRE(processes.sweep(130));
  CHECK_FALSE(fs::exists(later));
  CHECK(fs::exists(last));
  REQUIRE(processes.sweep(1000));
  CHECK_FALSE(fs::exists(last));
  for (const fs::path& stays : {earlier, unknown, running, other}) {
    CHECK(fs::exists(stays));
  }
  for (const auto& [pid, input] : {stranger, ours}) {
    ::close(input);
    ::waitpid(pid, nullptr, 0);
  }
}
