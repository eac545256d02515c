// Runs one scenario of the subject program in a trace directory of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reader.h"

namespace vprof::test {

struct Setup {
  std::map<std::string, std::string>
      environment;  // on top of VPROF_TRACE_DIR; an empty value removes a variable
  std::function<void()> before_exec;  // in the child
  std::string trace_directory;        // empty: a fresh one
  bool on_disk = false;               // a fresh one is not in memory, though there is room
  int kill_after_us = 0;              // 0: it ends by itself
};

// Without preemption, which comes when it likes: for tests that count what was dropped, where it would be dropped, too.
inline Setup countable(Setup setup = {}) {
  setup.environment["VPROF_WAITS_OFF"] = "stream,file,preemption";
  return setup;
}

// For tests in which the disk has a part.
inline Setup with_disk(Setup setup = {}) {
  setup.on_disk = true;
  return setup;
}

struct Outcome {
  int exit_code = -1;  // -1: killed
  int signal = 0;
  std::string output;  // standard output and error
  std::vector<Trace> traces;

  // The number after `name` in the output ("frames 12"); fails the test if it is not there.
  uint64_t number(const std::string& name) const;
};

// Every trace in the outcome has been checked for the guarantees of the format; the test fails if one does not hold.
Outcome run(const std::string& scenario, const Setup& setup = {});

// A directory that is removed at the end of the test.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(
      const std::filesystem::path& within = std::filesystem::temp_directory_path());
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace vprof::test
