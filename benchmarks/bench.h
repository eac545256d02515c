// What the benchmarks of the runtime share: clocks, averages, and a way to run themselves again
// with a trace directory.
#pragma once

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#define NOT_INLINED __attribute__((noinline))

namespace vprof::bench {

inline double nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

// Runs this program again with VPROF_TRACE_DIR set to a new directory below $TMPDIR or /tmp, prints
// the size of the trace, and deletes the directory.
inline int run_with_trace(char** argv) {
  std::string directory = (std::filesystem::temp_directory_path() / "vprof-bench-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) {
    return 2;
  }
  const pid_t child = fork();
  if (child == 0) {
    setenv("VPROF_TRACE_DIR", directory.c_str(), 1);
    setenv("VPROF_TRACE_MB", "65536", 0);
    execv("/proc/self/exe", argv);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  uintmax_t bytes = 0;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(directory, error)) {
    bytes += file.file_size(error);
  }
  std::printf("trace %.0f MB\n", static_cast<double>(bytes) / 1e6);
  std::filesystem::remove_all(directory, error);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

}  // namespace vprof::bench
