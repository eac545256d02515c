// `vprof instrument`: writes the plan and rewrites the mirror; nothing is built.
#include <algorithm>

#include "commands.h"
#include "near.h"
#include "steps.h"
#include "verbs.h"

namespace vprof::driver {

namespace {

/// Adds what is new to what is expanded already.
void add(std::vector<std::string>& expanded, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (std::find(expanded.begin(), expanded.end(), key) == expanded.end()) expanded.push_back(key);
  }
}

Result<std::vector<std::string>> keys_of(const std::vector<std::string>& names,
                                         const instrumenter::Program& program) {
  std::vector<std::string> keys;
  for (const std::string& name : names) {
    auto function = resolve_function(program, name, "--expand");
    if (!function) return tl::unexpected(function.error());
    keys.push_back((*function)->key);
  }
  return keys;
}

}  // namespace

Result<int> verb_instrument(const Global& global, const std::vector<std::string>& expand) {
  auto session = open_session(global.config, Access::kWrite);
  if (!session) return tl::unexpected(session.error());
  auto program = load_index(*session);
  if (!program) return tl::unexpected(program.error());
  auto targets = resolve(session->config, *program);
  if (!targets) return tl::unexpected(targets.error());
  for (const std::string& warning : targets->warnings) warn(warning);
  auto more = keys_of(expand, *program);
  if (!more) return tl::unexpected(more.error());

  State& state = session->state;
  if (state.iteration == 0) {
    state.iteration = 1;
    state.intervals = fingerprint(session->config);
    state.history.resize(1);
  }
  state.expanded = follow_edits(state.expanded, *program);
  add(state.expanded, targets->roots);
  add(state.expanded, *more);
  state.step = Step::kMeasure;
  if (auto made = make_directories(session->workspace.iteration(state.iteration)); !made)
    return tl::unexpected(made.error());
  auto done = instrument_step(*session, *program, *targets);
  if (!done) return tl::unexpected(done.error());
  state.history.back().sites = done->sites;
  if (auto saved = session->save(); !saved) return tl::unexpected(saved.error());
  say(fmt::format("{} expanded, {}, {} rewritten", counted(state.expanded.size(), "function"),
                  counted(done->sites, "site"), counted(done->files_changed.size(), "file")));
  return 0;
}

}  // namespace vprof::driver
