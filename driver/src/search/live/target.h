// The program that a live run looks at: started by vprof, or by anybody else before.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "process/process.h"
#include "vprof/support/files.h"

namespace vprof::driver {

class Target {
 public:
  virtual ~Target() = default;

  /// Waits for a moment, some 20 ms. Returns whether anything of the program still runs.
  virtual bool turn() = 0;
  /// Ends it if vprof has started it. Error: vprof was interrupted; or the workload failed by
  /// itself.
  virtual Result<void> leave() = 0;
};

/// Starts a workload.
Result<std::unique_ptr<Target>> start_target(const Command& command);

/// A program that runs already and records into `trace`, or will as soon as vprof drives it.
/// @param pid one of its processes; 0: none is known
std::unique_ptr<Target> running_target(const fs::path& trace, pid_t pid);

/// The trace directory that a process was started with (VPROF_TRACE_DIR). Error: there is no such
/// process, it may not be looked at, or it was started without.
Result<fs::path> trace_of_process(pid_t pid);

/// Processes that record into a trace directory and still run.
std::vector<pid_t> recording_processes(const fs::path& trace);

/// Traces in that directory whose processes do not run any more.
std::vector<fs::path> ended_recordings(const fs::path& trace);

/// A file of the program that a process still runs although there is a new one in its place: its
/// own executable, or anything below `built`. Empty: there is none.
std::string replaced_file(pid_t pid, const fs::path& built);

/// What programs have done, recorded or not.
struct Work {
  double processor_ns = 0;
  double begun = 0;  ///< intervals; 0 if an older runtime does not count them
  /// When its processor time was read, at the begin and the end, ns of CLOCK_MONOTONIC. The rest is
  /// in files, and to read one may take long if the disk is busy.
  int64_t from = 0, to = 0;
};

/// It, since each process started. An ended one's is what its trace says; nothing, if it was killed
/// in its first second.
struct WorkByProcess {
  int64_t at = 0;  ///< when the processor time of those that run was read
  std::map<pid_t, Work> running;
  std::map<fs::path, Work> ended;  ///< by trace
};

/// It, between two moments.
class WorkSince {
 public:
  explicit WorkSince(const fs::path& trace);
  /// By all processes that record, those that have started or ended since then among them.
  Work done() const;
  /// The same; then becomes now.
  Work step();

 private:
  fs::path trace_;
  WorkByProcess then_;
};

}  // namespace vprof::driver
