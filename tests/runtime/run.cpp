#include "run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iterator>
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
                                 const std::string& directory, int input, int output) {
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  setenv("VPROF_TRACE_DIR", directory.c_str(), 1);
  setenv("VPROF_TRACE_MB", "512", 0);
  setenv("VPROF_PATIENCE", "1000000", 0);
  // Leaves out the subject's own output; tests of waits ask for every class.
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
  // A subject for another processor (aarch64.cmake).
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
  // In a ring, threads that have ended may have been overwritten.
  if (trace.header.overwritten == 0) {
    CHECK(trace.header.threads == trace.threads.size());
  } else {
    CHECK(trace.header.threads >= trace.threads.size());
  }
  CHECK(trace.helper.orphans == 0);
}

// Tests are faster in memory.
std::filesystem::path where_traces_go(const Setup& setup) {
  constexpr uintmax_t kEnough = uintmax_t{2} << 30;  // bytes
  const std::filesystem::path memory = "/dev/shm";
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(memory, error);
  const bool fits = !error && space.available >= kEnough && access(memory.c_str(), W_OK) == 0;
  return fits && !setup.on_disk ? memory : std::filesystem::temp_directory_path();
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

void supervise(pid_t child, const Setup& setup, const std::string& directory) {
  while (setup.until && !has_ended(child) && !setup.until(read_traces(directory))) {
    usleep(500);
  }
  while (setup.kill_when && !has_ended(child) && !setup.kill_when()) {
    usleep(200);
  }
  if (setup.kill_when) {
    kill(child, SIGKILL);
  }
}

}  // namespace

bool Outcome::says(const std::string& name) const {
  std::istringstream words(output);
  return std::find(std::istream_iterator<std::string>(words), {}, name) !=
         std::istream_iterator<std::string>();
}

bool Outcome::is_told(const Record& wait) const {
  const uint64_t end = wait.word + wait.payload;
  const auto from = [&](const char* name) { return says(name) ? number(name) : 0; };
  const auto to = [&](const char* name) { return says(name) ? number(name) : UINT64_MAX; };
  // The rate of the clock is an estimate.
  const uint64_t least = from("least_us") * traces.at(0).header.ticks_per_second / 1000000 / 10 * 9;
  return wait.word >= from("began") && wait.word <= to("asleep") && end >= from("woken") &&
         end <= to("over") && wait.payload >= least;
}

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
  int input[2];
  int output[2];
  REQUIRE(pipe2(input, O_CLOEXEC) == 0);
  REQUIRE(pipe2(output, O_CLOEXEC) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    become_subject(scenario, setup, directory, input[0], output[1]);
  }
  close(input[0]);
  close(output[1]);
  supervise(child, setup, directory);
  close(input[1]);
  Outcome outcome;
  outcome.output = read_all(output[0]);
  close(output[0]);
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
