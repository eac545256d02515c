// `vprof instrument`: writes the plan and rewrites the mirror, but does not build it.
#include "pipeline/source.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "search/iterations.h"
#include "verbs/verbs.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

/// Prints what would be inserted as a diff, and how many calls that measures.
Result<int> show(const Session& session, const Targets& targets, Extent extent) {
  auto done = VPROF_TRY(preview_step(session, targets, extent));
  for (const std::string& file : done.files_changed) {
    auto text = VPROF_TRY(read_file(session.workspace.preview() / "files" / file));
    answer(insertions_in(session, file, text));
  }
  for (const std::string& line : done.full_coverage) {
    say(line);
  }
  VPROF_TRY(remove_tree(session.workspace.preview()));
  return 0;
}

Result<int> instrument(Session& session, const instrumenter::Program& program,
                       const Targets& targets, Extent extent) {
  State& state = session.state;
  state.step = Step::kMeasure;
  VPROF_TRY(make_directories(session.workspace.iteration(state.iteration)));
  auto done = VPROF_TRY(instrument_step(session, program, targets, extent));
  state.history.back().sites = done.sites;
  VPROF_TRY(session.save());
  const std::string expanded =
      extent == Extent::kAll ? "everything" : counted(state.expanded.size(), "function");
  say(fmt::format("{} expanded, {}, {} rewritten", expanded, counted(done.sites, "site"),
                  counted(done.files_changed.size(), "file")));
  for (const std::string& line : done.full_coverage) {
    say(line);
  }
  return 0;
}

}  // namespace

Result<int> verb_instrument(const Global& global, const InstrumentOptions& options) {
  auto session = VPROF_TRY(open_session(global.config, Access::kWrite));
  VPROF_TRY(check_place(session));
  auto program = VPROF_TRY(load_index(session));
  auto targets = VPROF_TRY(resolve(session.config, program));
  for (const std::string& warning : targets.warnings) {
    warn(warning);
  }
  auto more = VPROF_TRY(keys_to_expand(program, options.expand));

  State& state = session.state;
  if (state.iteration > 0 && state.intervals != fingerprint(session.config)) {
    say("the intervals in vprof.json have changed: starting a new search");
    if (!options.dry_run) {
      VPROF_TRY(put_away_iterations(session, 0));
    }
    state = restarted(state);
  }
  if (state.iteration == 0) {
    state.iteration = 1;
    state.intervals = fingerprint(session.config);
    state.history.resize(1);
  }
  state.expanded = follow_edits(state.expanded, program);
  expand(state, targets.roots);
  expand(state, more);
  const Extent extent = options.all ? Extent::kAll : Extent::kFrontier;
  if (options.dry_run) {
    return show(session, targets, extent);
  }
  return instrument(session, program, targets, extent);
}

}  // namespace vprof::driver
