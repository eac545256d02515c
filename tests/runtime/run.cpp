#include "run.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace vprof::test {
namespace {

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

[[noreturn]] void become_subject(const std::string& scenario, const Setup& setup,
                                 const std::string& directory, int output) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  setenv("VPROF_TRACE_DIR", directory.c_str(), 1);
  setenv("VPROF_TRACE_MB", "512", 0);
  // The subject's own output is no part of what is tested; tests of waits ask for all.
  setenv("VPROF_WAITS_OFF", "stream,file", 0);
  setenv("TSAN_OPTIONS", "atexit_sleep_ms=0", 0);
  for (const auto& [name, value] : setup.environment) {
    if (value.empty()) {
      unsetenv(name.c_str());
    } else {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  if (setup.before_exec) {
    setup.before_exec();
  }
  // The same tests with a subject for another processor (aarch64.cmake).
  if (const char* emulator = getenv("VPROF_TEST_EMULATOR"); emulator != nullptr) {
    execl(emulator, emulator, "-L", getenv("VPROF_TEST_SYSROOT"),
          getenv("VPROF_TEST_FOREIGN_SUBJECT"), scenario.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  execl(VPROF_TEST_SUBJECT, VPROF_TEST_SUBJECT, scenario.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

void check_format(const Trace& trace) {
  INFO(trace.path);
  CHECK(trace.error == "");
  CHECK(trace.header.slot_bytes == 16);
  CHECK(trace.header.ticks_per_second > 1000000);
  CHECK(trace.header.family != 0);
  for (const Thread& thread : trace.threads) {
    CHECK(thread.orphans == 0);
  }
  CHECK(trace.header.threads == trace.threads.size());
  CHECK(trace.helper.orphans == 0);
}

// A disk that stands still for a moment costs records, so traces are kept in memory where there is room for them.
std::filesystem::path where_traces_go(const Setup& setup) {
  constexpr uintmax_t kEnough = uintmax_t{2} << 30;  // bytes
  const std::filesystem::path memory = "/dev/shm";
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(memory, error);
  const bool fits = !error && space.available >= kEnough && access(memory.c_str(), W_OK) == 0;
  return fits && !setup.on_disk ? memory : std::filesystem::temp_directory_path();
}

}  // namespace

uint64_t Outcome::number(const std::string& name) const {
  std::istringstream words(output);
  for (std::string word; words >> word;) {
    if (word != name) {
      continue;
    }
    uint64_t value = 0;
    words >> value;
    return value;
  }
  FAIL("no \"" << name << "\" in: " << output);
  return 0;
}

Outcome run(const std::string& scenario, const Setup& setup) {
  const TemporaryDirectory fresh(where_traces_go(setup));
  const std::string directory =
      setup.trace_directory.empty() ? fresh.path() : setup.trace_directory;
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    become_subject(scenario, setup, directory, pipe_ends[1]);
  }
  close(pipe_ends[1]);
  if (setup.kill_after_us > 0) {
    usleep(static_cast<useconds_t>(setup.kill_after_us));
    kill(child, SIGKILL);
  }
  Outcome outcome;
  outcome.output = read_all(pipe_ends[0]);
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) {
    outcome.exit_code = WEXITSTATUS(status);
  }
  if (WIFSIGNALED(status)) {
    outcome.signal = WTERMSIG(status);
  }
  if (std::filesystem::is_directory(directory)) {
    outcome.traces = read_traces(directory);
  }
  for (const Trace& trace : outcome.traces) {
    check_format(trace);
  }
  UNSCOPED_INFO(scenario << ": " << outcome.output);
  return outcome;
}

TemporaryDirectory::TemporaryDirectory(const std::filesystem::path& within)
    : path_((within / "vprof-test-XXXXXX").string()) {
  REQUIRE(mkdtemp(path_.data()) != nullptr);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace vprof::test
