// The steps that the loop and the single-step verbs consist of. Each leaves files in `.vprof/` for
// the next one, which may run in another invocation of vprof. Each can be repeated.
//
//   mirror ──▶ first build ──▶ index ──▶ [ instrument ──▶ build ──▶ record ──▶ analyze ]*
#pragma once

#include "build/mirror.h"
#include "config/resolve.h"
#include "process/process.h"
#include "workspace/session.h"

namespace vprof::driver {

/// Brings the mirror and the state up to date with the source. After an edit the instrumented files
/// are restored, and the whole program counts as not built.
Result<MirrorChange> mirror_step(Session& session);

/// Error: the mirror was made in another place, from where it was copied or moved. mirror_step()
/// makes it again.
Result<void> check_place(const Session& session);

/// Runs `configure` if it has not succeeded yet.
Result<void> configure_step(Session& session);

/// Runs `configure` if it has not succeeded yet, and `build` if the source has changed since the
/// last whole build. Both run through the shims, which record compile_commands.json.
Result<void> first_build_step(Session& session);

/// Makes the index, or keeps the one there is if nothing has changed.
Result<instrumenter::Program> index_step(const Session& session);

/// Reads the index that there is. Error: there is none, with the verb that makes it.
Result<instrumenter::Program> load_index(const Session& session);

struct Instrumented {
  uint64_t sites = 0;
  std::vector<std::string> files_changed;  ///< relative to the mirror
  std::string coverage;                    ///< one line: how many calls are measured
  std::vector<std::string> full_coverage;  ///< measured calls by rule, the others by reason
};

enum class Extent : uint8_t {
  kFrontier,  ///< the functions that the state has expanded
  kArmed,     ///< all that a live search may ask for: Plan::armed
  kAll,       ///< every function and call
};

/// Of the plan that was written last.
Extent extent_of(const instrumenter::Plan& plan);

/// What the state wants measured.
instrumenter::Plan plan_of(const Session& session, const Targets& targets, Extent extent);

/// Writes plan.json and rewrites the mirror accordingly.
Result<Instrumented> instrument_step(const Session& session, const instrumenter::Program& program,
                                     const Targets& targets, Extent extent = Extent::kFrontier);

/// Like instrument_step(), but writes the rewritten files to workspace.preview() and leaves the
/// mirror alone.
Result<Instrumented> preview_step(const Session& session, const Targets& targets, Extent extent);

struct Built {
  double seconds = 0;
  size_t compiled = 0;  ///< files
};

/// The programs that builds of the mirror have linked, as paths in it.
std::vector<std::string> built_programs(const Session& session);

/// Runs the user's build command in the mirror. The log goes to the current iteration. `expected`:
/// how many files it will compile, for the progress line; 0: unknown.
Result<Built> build_step(const Session& session, size_t expected = 0);

/// Instead of a build: brings the runtime library if the program has that of another vprof.
Result<void> runtime_step(const Session& session);

enum class Sites : uint8_t {
  kOn,
  kOff,  ///< intervals only, for the baseline
};

/// One run of a workload, to be recorded.
struct WorkloadRun {
  std::vector<std::string> argv;
  fs::path trace;  ///< directory of the recording; what it held before is deleted
  fs::path log;
  Sites sites = Sites::kOn;
  double usual_s = 0;  ///< how long it took the last time; 0: unknown
  /// Whether Ctrl-C ends the workload, and what was recorded until then is the recording.
  bool stoppable = false;
  double stop_after_s = 0;  ///< when it ends in the same way; 0: when it ends by itself
};

/// The command of a workload as text, by which a baseline knows what it is comparable with.
std::string command_of(const WorkloadRun& run);

/// `run` of vprof.json, recorded into the current iteration.
WorkloadRun workload_run(const Session& session, Sites sites);

/// How it is started: the environment tells the runtime what to record.
Command workload_command(const Session& session, const WorkloadRun& run);

/// Makes an empty trace directory, in which servers that drop root privileges can still write.
Result<void> clear_trace_directory(const fs::path& trace);

/// Runs a workload in the mirror and returns its duration in seconds. Error: it failed, or left no
/// trace.
Result<double> record_step(const Session& session, const WorkloadRun& run);

}  // namespace vprof::driver
