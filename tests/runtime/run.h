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
  // On top of VPROF_TRACE_DIR; an empty value removes a variable.
  std::map<std::string, std::string> environment;
  std::function<void()> before_exec;  // in the child
  std::string trace_directory;        // empty: a fresh one
  bool on_disk = false;               // a fresh one is not in memory, even if there is room
  // The subject is killed once this is true, which is polled.
  std::function<bool()> kill_when = nullptr;
  // A subject that waits in until_released() is released once this is true of its traces.
  std::function<bool(const std::vector<Trace>&)> until = nullptr;
};

// The time limits that users get, instead of none (VPROF_PATIENCE).
inline Setup impatient(Setup setup = {}) {
  setup.environment["VPROF_PATIENCE"] = "";
  return setup;
}

// Without preemption, which comes at any time. For tests that count dropped records: preemptions
// may be among them.
inline Setup countable(Setup setup = {}) {
  setup.environment["VPROF_WAITS_OFF"] = "stream,file,preemption";
  return setup;
}

// For tests that need a disk below the trace.
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
  bool says(const std::string& name) const;

  // Whether the record lies within the times that the subject told of a wait (WaitTimes in
  // subjects/subject.h), and around the time in which the waiter was seen to sleep.
  bool is_told(const Record& wait) const;
};

// Checks every trace of the outcome for the guarantees of the format; the test fails if one is
// broken.
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
