// The steps that the loop and the single-step verbs are made of. Each leaves files in `.vprof/`
// from which the next can go on, also in another run of vprof, and each can be repeated.
//
//   mirror ──▶ first build ──▶ index ──▶ [ instrument ──▶ build ──▶ record ──▶ analyze ]*
#pragma once

#include "build/mirror.h"
#include "config/resolve.h"
#include "vprof/instrumenter/summary.h"
#include "vprof/support/json.h"
#include "workspace/session.h"

namespace vprof::driver {

/// Brings the mirror up to date and makes the state agree: after an edit of the source the files
/// that are instrumented are restored and the whole program counts as not built.
Result<MirrorChange> mirror_step(Session& session);

/// `configure` if it was not run before, and `build` if the source has changed since the whole
/// program was last built; both through the shims, which record compile_commands.json.
Result<void> first_build_step(Session& session);

Result<instrumenter::Program> index_step(const Session& session);

/// What the index knows, without making it anew. Error: there is none; says which verb makes it.
Result<instrumenter::Program> load_index(const Session& session);

enum class Extent : uint8_t {
  kFrontier,  ///< what the state has expanded
  kAll,       ///< every function and call
};

/// Writes plan.json and rewrites the mirror accordingly.
Result<instrumenter::Summary> instrument_step(const Session& session,
                                              const instrumenter::Program& program,
                                              const Targets& targets,
                                              Extent extent = Extent::kFrontier);

/// The same, but the rewritten files go to workspace.preview(), and the mirror stays as it is.
Result<instrumenter::Summary> preview_step(const Session& session, const Targets& targets,
                                           Extent extent);

struct Built {
  double seconds = 0;
  size_t compiled = 0;
};

/// The user's own build command in the mirror; log in the current iteration.
Result<Built> build_step(const Session& session);

struct Recording {
  std::vector<std::string> argv;  ///< what to run
  fs::path trace;                 ///< replaced
  fs::path log;
  bool sites = true;  ///< false: intervals only, for the baseline
};

/// Runs a workload in the mirror. Returns its seconds. Error: it failed, or left no trace.
Result<double> record_step(const Session& session, const Recording& recording);

/// The recording that `run` in vprof.json asks for in the current iteration.
Recording recording_of(const Session& session, bool sites);

}  // namespace vprof::driver
