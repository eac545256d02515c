#include "search/iterations.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "process/commands.h"
#include "search/narration.h"
#include "vprof/instrumenter/sites.h"

namespace vprof::driver {

namespace {

/// The number of an iteration's directory; -1 for other directories.
int number_of(const fs::path& directory) {
  const std::string name = directory.filename().string();
  int n = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), n);
  return error == std::errc() && end == name.data() + name.size() ? n : -1;
}

std::vector<fs::path> iterations_after(const Workspace& workspace, int last) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(workspace.iterations(), error)) {
    if (number_of(item.path()) > last) {
      found.push_back(item.path());
    }
  }
  return found;
}

/// Positions and callees of the call sites in a file.
Result<std::set<std::string>> call_sites(const fs::path& file) {
  const auto sites = VPROF_TRY(instrumenter::load_sites(file.string()));
  std::map<size_t, std::string> names;
  for (const instrumenter::SitesFile::FunctionEntry& one : sites.functions) {
    names[one.id] = one.key;
  }
  std::set<std::string> calls;
  for (const instrumenter::SitesFile::SiteEntry& site : sites.sites) {
    if (site.kind == instrumenter::SiteKind::kCall) {
      calls.insert(
          fmt::format("{}:{}:{} {}", site.file, site.line, site.column, names[site.function]));
    }
  }
  return calls;
}

/// The names of decisions that no iteration before the last one has in its list.
std::vector<std::string> new_names(const std::vector<DecidedFactor>& decisions,
                                   const std::vector<report::Iteration>& history,
                                   std::vector<std::string> report::Iteration::* list) {
  std::vector<std::string> names;
  for (const DecidedFactor& one : decisions) {
    const auto has = [&](const report::Iteration& iteration) {
      return std::ranges::find(iteration.*list, one.name) != (iteration.*list).end();
    };
    if (std::none_of(history.begin(), history.end() - 1, has)) {
      names.push_back(one.name);
    }
  }
  return names;
}

}  // namespace

Result<void> put_away_iterations(const Session& session, int last) {
  const std::vector<fs::path> later = iterations_after(session.workspace, last);
  if (later.empty()) {
    return {};
  }
  const fs::path old = session.workspace.previous_iterations();
  VPROF_TRY(remove_tree(old));
  VPROF_TRY(make_directories(old));
  for (const fs::path& one : later) {
    std::error_code error;
    fs::rename(one, old / one.filename(), error);
    if (error) {
      return fail("cannot rename {}: {}", shown(one), error.message());
    }
  }
  return {};
}

Result<bool> restart_if_needed(Session& session, bool wanted) {
  State& state = session.state;
  const std::string intervals = fingerprint(session.config);
  const bool other_search = state.iteration > 0 && state.intervals != intervals;
  if (other_search) {
    say("the intervals in vprof.json have changed: starting a new search");
  }
  if (wanted || other_search) {
    VPROF_TRY(put_away_iterations(session, 0));
    state = restarted(state);
    VPROF_TRY(session.save());
  }
  if (state.iteration == 0) {
    state.intervals = intervals;
  }
  return other_search;
}

Result<void> next_iteration(Session& session, const instrumenter::Program& program,
                            const std::vector<std::string>& keys) {
  State& state = session.state;
  report::Iteration iteration;
  for (const std::string& key : expand(state, keys)) {
    const instrumenter::Function* function = program.by_key(key);
    iteration.expanded.push_back(function == nullptr ? key : function->name);
  }
  ++state.iteration;
  state.step = Step::kMeasure;
  iteration.demoted = static_cast<uint64_t>(
      std::ranges::count(state.demoted, state.iteration, &report::Demoted::since));
  state.history.resize(static_cast<size_t>(state.iteration) - 1);
  state.history.push_back(std::move(iteration));
  return session.save();
}

void keep_measured(const analyzer::Profile& profile, State& state) {
  report::Iteration& current = state.history.back();
  current.mean_ns = profile.interval.mean_ns;
  current.variance_ns2 = profile.interval.variance_ns2;
  current.leading.clear();
  for (const analyzer::Factor& factor : profile.factors) {
    if (factor.rank <= profile.k) {
      current.leading.push_back({.factor = factor_name(factor),
                                 .contribution = factor.weight,
                                 .share = leading_share(factor, profile.ranking),
                                 .marked = factor.marked});
    }
  }
}

void record(const Decision& decision, bool alone, State& state) {
  report::Iteration& current = state.history.back();
  if (alone) {
    std::erase_if(state.selected, [](const DecidedFactor& one) { return !one.by_user; });
    current.selected = new_names(state.selected, state.history, &report::Iteration::selected);
    current.set_aside = new_names(state.set_aside, state.history, &report::Iteration::set_aside);
  }
  for (const DecidedFactor& factor : decision.selected) {
    state.selected.push_back(factor);
    current.selected.push_back(factor.name);
  }
  for (const DecidedFactor& factor : decision.set_aside) {
    state.set_aside.push_back(factor);
    current.set_aside.push_back(factor.name);
  }
}

Result<void> keep_state(const Session& session) {
  const State& state = session.state;
  return save_state(session.workspace.kept_state(state.iteration), state);
}

Result<std::optional<uint64_t>> keep_sites(const Session& session) {
  const Workspace& ws = session.workspace;
  const int n = session.state.iteration;
  const auto text = VPROF_TRY(read_file(ws.sites()));
  VPROF_TRY(write_file_atomic(ws.kept_sites(n), text));
  std::set<std::string> calls = VPROF_TRY(call_sites(ws.kept_sites(n)));
  std::error_code error;
  if (n > 1 && !fs::exists(ws.kept_sites(n - 1), error)) {
    return std::nullopt;
  }
  const std::set<std::string> before =
      n > 1 ? VPROF_TRY(call_sites(ws.kept_sites(n - 1))) : std::set<std::string>();
  std::erase_if(calls, [&](const std::string& call) { return before.contains(call); });
  return calls.size();
}

Result<void> go_back(Session& session, int n) {
  const fs::path file = session.workspace.kept_state(n);
  std::error_code error;
  if (n > session.state.iteration || !fs::exists(file, error)) {
    return fail("there is no iteration {} to go back to; `vprof history` lists them", n);
  }
  auto kept = VPROF_TRY(load_state(file));
  if (kept.built != session.state.built) {
    // The source has changed: those measurements were of another program.
    forget_overhead(kept);
    kept.step = Step::kMeasure;
  }
  kept.configured = session.state.configured;
  kept.place = session.state.place;
  kept.built = session.state.built;
  VPROF_TRY(put_away_iterations(session, n));
  session.state = std::move(kept);
  say(fmt::format("back at iteration {}; later ones are in {}", n,
                  shown(session.workspace.previous_iterations())));
  return session.save();
}

}  // namespace vprof::driver
