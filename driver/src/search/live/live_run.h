// A live run: an armed program that runs, its recording, and the control of its sites.
#pragma once

#include <memory>
#include <string>

#include "pipeline/own_use/own_processor_time.h"
#include "search/live/armed_program.h"
#include "search/live/frontier_file.h"
#include "search/live/target.h"

namespace vprof::driver {

struct LiveRun {
  ArmedProgram armed;
  fs::path trace;
  std::unique_ptr<FrontierFile> frontier;
  std::unique_ptr<Target> target;      ///< null before start()
  OwnUse own = OwnUse::since_start();  ///< of vprof while the program runs

  /// Starts `run` of vprof.json, unless the program runs already.
  /// @param ring_mb MiB that each thread of it keeps; 0: everything
  /// Error: it cannot be started.
  Result<void> start(const Session& session, uint64_t ring_mb);
  /// Switches all sites off and leaves the program; warns if it failed.
  void leave();
};

/// Why no interval of the run that is recorded in `trace` was completed, in one line.
std::string why_nothing(const fs::path& trace, const Session& session);

/// Arms the program, or takes hold of one that runs.
/// @param attach a process or a trace directory; empty: start() follows
/// Error: as for arm(); or the program cannot be looked at.
Result<LiveRun> begin_live_run(Session& session, const std::string& attach);

}  // namespace vprof::driver
