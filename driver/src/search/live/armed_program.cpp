#include "search/live/armed_program.h"

#include <set>

#include "pipeline/steps.h"
#include "pipeline/whole_build.h"
#include "process/commands.h"
#include "vprof/instrumenter/frontier.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

/// What the armed program depends on: the build, and what is inserted.
std::string fingerprint_of(const Session& session) {
  return instrumenter::content_hash(session.state.built + "\n" + fingerprint(session.config) +
                                    "\n" + read_file(session.workspace.plan()).value_or(""));
}

/// sites.json of the armed program, beside the fingerprint that it is of.
Result<void> keep_armed(const Session& session) {
  const Workspace& ws = session.workspace;
  VPROF_TRY(make_directories(ws.live()));
  VPROF_TRY(write_file_atomic(ws.armed_sites(), VPROF_TRY(read_file(ws.sites()))));
  return write_file_atomic(ws.armed(), fingerprint_of(session));
}

Result<void> build_armed(Session& session, ArmedProgram& armed) {
  say("building the program with its call sites in place and off");
  std::error_code error;
  fs::remove(session.workspace.armed(), error);
  const Instrumented instrumented =
      VPROF_TRY(instrument_step(session, armed.program, armed.targets, Extent::kArmed));
  const WholeBuild built =
      VPROF_TRY(whole_build_step(session, armed.program, armed.targets, Extent::kArmed));
  say(fmt::format("{}, {}; built in {:.0f} s", counted(built.sites, "site"), instrumented.coverage,
                  built.seconds));
  return keep_armed(session);
}

bool is_armed(const Session& session) {
  return read_file(session.workspace.armed()).value_or("") == fingerprint_of(session);
}

Result<ArmedProgram> resolved(const Session& session, instrumenter::Program program) {
  ArmedProgram armed;
  armed.program = std::move(program);
  armed.targets = VPROF_TRY(resolve(session.config, armed.program));
  for (const std::string& warning : armed.targets.warnings) {
    warn(warning);
  }
  return armed;
}

Result<ArmedProgram> indexed(const Session& session) {
  return resolved(session, VPROF_TRY(index_step(session)));
}

Result<ArmedProgram> with_sites(const Session& session, ArmedProgram armed) {
  armed.sites = VPROF_TRY(instrumenter::load_sites(session.workspace.armed_sites().string()));
  return armed;
}

}  // namespace

Result<ArmedProgram> arm(Session& session) {
  VPROF_TRY(mirror_step(session));
  VPROF_TRY(first_build_step(session));
  ArmedProgram armed = VPROF_TRY(indexed(session));
  if (!is_armed(session)) {
    VPROF_TRY(build_armed(session, armed));
  } else {
    VPROF_TRY(runtime_step(session));
  }
  return with_sites(session, std::move(armed));
}

Result<ArmedProgram> armed_before(const Session& session) {
  const Workspace& ws = session.workspace;
  if (!fs::exists(ws.armed())) {
    return fail("{} has no program that is armed; `vprof live --build` builds it", shown(ws.dot));
  }
  if (!is_armed(session)) {
    return fail(
        "the program that runs is not the one of {} any more: it was built again, or {} asks for "
        "other events; run `vprof live --build` and start it again",
        shown(ws.dot), shown(session.config.file));
  }
  auto program = load_index(session);
  if (!program) {
    return with_sites(session, VPROF_TRY(indexed(session)));
  }
  return with_sites(session, VPROF_TRY(resolved(session, std::move(*program))));
}

Result<Frontier> move_frontier(const Session& session, const ArmedProgram& armed) {
  const Workspace& ws = session.workspace;
  auto plan = plan_of(session, armed.targets, Extent::kFrontier);
  plan.armed = true;
  const auto sites = VPROF_TRY(instrumenter::sites_of_frontier(
      armed.program, plan, armed.sites, ws.mirror().string(), ws.pristine().string()));
  VPROF_TRY(make_directories(ws.iteration(session.state.iteration)));
  VPROF_TRY(instrumenter::save_sites(sites, ws.kept_sites(session.state.iteration).string()));
  VPROF_TRY(instrumenter::save_sites(sites, ws.sites().string()));
  return Frontier{sites.sites.size(), instrumenter::numbers_to_switch_on(sites, armed.sites)};
}

std::vector<std::string> names_without_sites(const ArmedProgram& armed,
                                             const std::vector<std::string>& keys) {
  std::set<size_t> callers;
  for (const auto& site : armed.sites.sites) {
    if (site.kind == instrumenter::SiteKind::kCall && site.parent) {
      callers.insert(*site.parent);
    }
  }
  std::set<std::string> with_sites;
  for (const auto& function : armed.sites.functions) {
    if (callers.contains(function.id)) {
      with_sites.insert(function.key);
    }
  }
  std::vector<std::string> names;
  for (const std::string& key : keys) {
    const instrumenter::Function* function = armed.program.by_key(key);
    if (!with_sites.contains(key) && function != nullptr && function->targets.empty()) {
      names.push_back(function->name);
    }
  }
  return names;
}

}  // namespace vprof::driver
