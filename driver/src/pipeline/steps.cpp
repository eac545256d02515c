#include "pipeline/steps.h"

#include <algorithm>
#include <map>

#include "build/compile_database.h"
#include "build/compile_log.h"
#include "build/coverage.h"
#include "build/shims.h"
#include "build/stale_objects.h"
#include "process/build_progress.h"
#include "process/commands.h"
#include "vprof/instrumenter/summary.h"
#include "vprof/support/text.h"
#include "workspace/outputs.h"

namespace vprof::driver {

namespace {

using instrumenter::Program;

std::string configure_fingerprint(const Config& config) {
  std::string all = config.configure;
  for (const auto& [name, value] : config.env) {
    all += fmt::format("\n{}={}", name, value);
  }
  return instrumenter::content_hash(all);
}

/// The headers that are compiled into the program. Objects that were built with others do not fit
/// the runtime.
std::string headers_fingerprint(const Locations& locations) {
  std::map<std::string, std::string> texts;
  std::error_code error;
  for (const fs::path& folder : locations.includes) {
    for (const auto& item : fs::directory_iterator(folder / "vprof/runtime", error)) {
      texts[item.path().filename().string()] = read_file(item.path()).value_or("");
    }
  }
  std::string all;
  for (const auto& [name, text] : texts) {
    all += name;
    all += '\n';
    all += text;
  }
  return instrumenter::content_hash(all);
}

/// Everything that a whole build depends on: the source as it was last copied, the commands, and
/// our headers.
std::string build_fingerprint(const Session& session) {
  const Config& config = session.config;
  return instrumenter::content_hash(read_file(session.workspace.manifest()).value_or("") + "\n" +
                                    configure_fingerprint(config) + "\n" + config.build + "\n" +
                                    config.compile_commands + "\n" +
                                    headers_fingerprint(session.locations));
}

std::vector<std::string> rewrite_command(const Session& session, const fs::path& plan,
                                         const fs::path& summary) {
  const Workspace& ws = session.workspace;
  return {session.locations.instrument,
          "rewrite",
          "--index",
          ws.index(),
          "--plan",
          plan,
          "--mirror",
          ws.mirror(),
          "--pristine",
          ws.pristine(),
          "--sites",
          ws.sites(),
          "--summary",
          summary,
          "--changed",
          ws.changed()};
}

Result<void> run_helper(const Session& session, const std::string& step,
                        std::vector<std::string> argv) {
  const fs::path log = session.workspace.iteration(session.state.iteration) / (step + ".log");
  StepCommand command{
      .step = step, .what = "vprof-instrument", .command = {}, .helper = "vprof-instrument"};
  command.command.argv = std::move(argv);
  command.command.directory = session.workspace.root;
  command.command.log = log;
  command.command.on_line = [](std::string_view) {};
  VPROF_TRY(run_step(command));
  return {};
}

Result<void> write_plan(const Session& session, const Targets& targets, Extent extent,
                        const fs::path& file) {
  return instrumenter::save_plan(plan_of(session, targets, extent), file);
}

/// Removes all instrumentation from the mirror, so that the next build is of the original program.
Result<void> restore_mirror(const Session& session) {
  std::error_code error;
  const Workspace& ws = session.workspace;
  if (!fs::exists(ws.plan(), error)) {
    return {};
  }
  Session bare{.config = session.config,
               .workspace = ws,
               .locations = session.locations,
               .state = session.state,
               .lock = Lock()};
  bare.state.expanded.clear();
  if (auto written = write_plan(bare, Targets{}, Extent::kFrontier, ws.plan()); !written) {
    return written;
  }
  return run_helper(session, "restore", rewrite_command(session, ws.plan(), ws.summary()));
}

StepCommand build_command(const Session& session, const std::string& step,
                          const std::string& text) {
  StepCommand command{.step = step, .what = fmt::format("the {} command", step), .command = {}};
  command.command.argv = shell(text);
  command.command.directory = session.workspace.mirror();
  command.command.environment =
      build_environment(session.locations, session.workspace, session.config.env);
  command.command.log = session.workspace.iteration(session.state.iteration) / (step + ".log");
  return command;
}

/// Runs the build. `expected`: how many compilations that will be; 0: unknown.
Result<Finished> run_build(const Session& session, size_t expected) {
  StepCommand step = build_command(session, "build", session.config.build);
  step.status = [progress =
                     BuildProgress(step.command.log, session.workspace.compile_log(), expected)](
                    double seconds) mutable { return progress.at(seconds); };
  return run_step(step);
}

Result<Instrumented> rewrite(const Session& session, const Targets& targets, Extent extent,
                             const fs::path& plan, const fs::path& summary_file,
                             const std::vector<std::string>& more = {}) {
  std::vector<std::string> command = rewrite_command(session, plan, summary_file);
  command.insert(command.end(), more.begin(), more.end());
  VPROF_TRY(write_plan(session, targets, extent, plan));
  VPROF_TRY(run_helper(session, "instrument", std::move(command)));
  const auto summary = VPROF_TRY(instrumenter::load_summary(summary_file));
  return Instrumented{.sites = summary.sites,
                      .files_changed = summary.files_changed,
                      .coverage = coverage_in_short(summary),
                      .full_coverage = coverage_in_full(summary)};
}

/// Without links, so that one directory has one name.
std::string place_of(const Workspace& workspace) {
  std::error_code error;
  const fs::path place = fs::canonical(workspace.root, error);
  return (error ? workspace.root : place).string();
}

/// The names of the functions that are in the tree, for completion in the shell: the index of a
/// large program takes too long to load.
Result<void> write_names(const Program& program, const fs::path& file) {
  std::string names;
  for (const instrumenter::Function& function : program.functions) {
    names += function.in_tree ? function.name + "\n" : "";
  }
  return write_file_atomic(file, names);
}

void warn_of_foreign_units(const Session& session, const Program& program) {
  std::vector<std::string> foreign;
  for (const instrumenter::Unit& unit : program.units) {
    if (unit.file.starts_with("../") || fs::path(unit.file).is_absolute()) {
      foreign.push_back((session.workspace.mirror() / unit.file).lexically_normal().string());
    }
  }
  if (!foreign.empty()) {
    warn(
        fmt::format("{} of {} compiled files are not in the source tree, and are not measured; the "
                    "first: {}",
                    foreign.size(), program.units.size(), foreign[0]));
  }
}

/// A project may have been moved or copied with its `.vprof`. What was built in the old place, and
/// what is known of that, has its paths: nothing may work on them, so all of it is made again.
Result<void> settle_here(Session& session) {
  const Workspace& ws = session.workspace;
  const std::string here = place_of(ws);
  if (session.state.place == here) {
    return {};
  }
  if (!session.state.place.empty()) {
    say(fmt::format("{} was made in {}: copying and building the program again", shown(ws.dot),
                    session.state.place));
    VPROF_TRY(remove_tree(ws.manifest()));
  }
  session.state.place = here;
  return session.save();
}

}  // namespace

Result<void> check_place(const Session& session) {
  if (session.state.place.empty() || session.state.place == place_of(session.workspace)) {
    return {};
  }
  return fail("{} was made in {}, and the program in it is built for that place; run `vprof build`",
              shown(session.workspace.dot), session.state.place);
}

Extent extent_of(const instrumenter::Plan& plan) {
  if (!plan.all) {
    return Extent::kFrontier;
  }
  return plan.armed ? Extent::kArmed : Extent::kAll;
}

instrumenter::Plan plan_of(const Session& session, const Targets& targets, Extent extent) {
  instrumenter::Plan plan;
  plan.all = extent != Extent::kFrontier;
  plan.armed = extent == Extent::kArmed;
  plan.exclude = session.config.exclude;
  plan.intervals = targets.intervals;
  plan.sync = targets.sync;
  plan.expanded.insert(session.state.expanded.begin(), session.state.expanded.end());
  for (const report::Demoted& one : session.state.demoted) {
    if (!plan.all && one.since <= session.state.iteration) {
      plan.demoted.insert(one.position);
    }
  }
  return plan;
}

Result<MirrorChange> mirror_step(Session& session) {
  VPROF_TRY(settle_here(session));
  Result<MirrorChange> change;
  {
    const Progress progress("copy");
    remember_outputs(session.workspace, session.config.source);  // a `tee` may have started late
    change = sync_mirror(session.config.source, session.workspace, session.config.file);
  }
  if (!change) {
    return change;
  }
  for (const std::string& path : change->skipped) {
    warn(fmt::format("not copied into the mirror: {}", path));
  }
  const bool configure_changed = std::find(change->changed.begin(), change->changed.end(),
                                           "configure") != change->changed.end();
  if (change->first || configure_changed) {
    session.state.configured.clear();
  }
  if (change->first) {
    session.state.built.clear();
    const Workspace& ws = session.workspace;
    for (const fs::path& old :
         {ws.compile_commands(), ws.links(), ws.index(), ws.plan(), ws.summary(), ws.changed()}) {
      VPROF_TRY(remove_tree(old));
    }
    say(fmt::format("copied {} into {}", counted(change->changed.size(), "file"),
                    shown(session.workspace.mirror())));
  } else if (change->any()) {
    say(fmt::format("source changed: {} copied again, {} deleted",
                    counted(change->changed.size(), "file"), change->deleted.size()));
  }
  if (session.state.built == build_fingerprint(session)) {
    return change;
  }
  std::error_code error;
  if (fs::exists(session.workspace.index(), error)) {
    const auto program = load_index(session);
    if (!program) {
      say(fmt::format(
          "{} is damaged, or another version of vprof made it: copying and building the "
          "program again",
          shown(session.workspace.dot)));
      VPROF_TRY(remove_tree(session.workspace.manifest()));
      return mirror_step(session);
    }
    VPROF_TRY(restore_mirror(session));
    VPROF_TRY(make_stale(session, *program));
  }
  session.state.built.clear();
  session.state.step = Step::kMeasure;
  forget_overhead(session.state);
  VPROF_TRY(session.save());
  return change;
}

Result<void> configure_step(Session& session) {
  const std::string wanted = configure_fingerprint(session.config);
  if (session.state.configured == wanted) {
    return {};
  }
  if (!session.config.configure.empty()) {
    say("configuring the program in " + shown(session.workspace.mirror()));
    VPROF_TRY(run_step(build_command(session, "configure", session.config.configure)));
  }
  session.state.configured = wanted;
  return session.save();
}

Result<void> first_build_step(Session& session) {
  const std::string wanted = build_fingerprint(session);
  if (session.state.built == wanted) {
    return {};
  }
  VPROF_TRY(install_shims(session));
  VPROF_TRY(configure_step(session));
  say("building the program as it is, to learn how it is compiled");
  VPROF_TRY(run_build(session, 0));
  auto database = VPROF_TRY(make_compile_database(session));
  say(fmt::format("{} recorded", counted(database, "compilation")));
  session.state.built = wanted;
  return session.save();
}

Result<Program> index_step(const Session& session) {
  const Workspace& ws = session.workspace;
  auto done = run_helper(
      session, "index",
      {session.locations.instrument, "index", "--compile-commands", ws.compile_commands(),
       "--mirror", ws.mirror(), "--pristine", ws.pristine(), "--cache", ws.cache(), "--out",
       ws.index(), "--jobs", std::to_string(session.config.jobs)});
  if (!done) {
    return tl::unexpected(done.error());
  }
  auto program = VPROF_TRY(load_index(session));
  VPROF_TRY(write_names(program, ws.names()));
  std::vector<std::string> failed;
  for (const instrumenter::Unit& unit : program.units) {
    if (!unit.error.empty()) {
      failed.push_back(fmt::format("{}: {}", unit.file, unit.error));
    }
  }
  say(fmt::format("{} in {}", counted(program.functions.size(), "function"),
                  counted(program.units.size(), "compiled file")));
  warn_of_foreign_units(session, program);
  if (!failed.empty()) {
    warn(fmt::format("Clang cannot read {} of {} files, which are not measured; the first: {}",
                     failed.size(), program.units.size(), failed[0]));
  }
  return program;
}

Result<Program> load_index(const Session& session) {
  std::error_code error;
  const fs::path file = session.workspace.index();
  if (!fs::exists(file, error)) {
    return fail("there is no {}; run `vprof index` first", shown(file));
  }
  return instrumenter::load_program(file.string());
}

Result<Instrumented> preview_step(const Session& session, const Targets& targets, Extent extent) {
  const fs::path directory = session.workspace.preview();
  VPROF_TRY(remove_tree(directory));
  const fs::path plan = directory / "plan.json";
  VPROF_TRY(make_directories(directory));
  return rewrite(session, targets, extent, plan, directory / "summary.json",
                 {"--preview", directory / "files"});
}

Result<Instrumented> instrument_step(const Session& session, const Program& program,
                                     const Targets& targets, Extent extent) {
  const fs::path plan = session.workspace.plan();
  auto result = VPROF_TRY(rewrite(session, targets, extent, plan, session.workspace.summary()));
  VPROF_TRY(make_stale(session, program));
  const fs::path kept = session.workspace.iteration(session.state.iteration) / "plan.json";
  VPROF_TRY(write_file_atomic(kept, VPROF_TRY(read_file(plan))));
  return result;
}

Result<void> runtime_step(const Session& session) {
  return has_own_runtime(session) ? Result<void>() : install_shims(session);
}

std::vector<std::string> built_programs(const Session& session) {
  std::vector<std::string> programs;
  for (const auto& [file, inputs] : linked_files(session.workspace)) {
    const fs::path path = file;
    if (path.filename().string().find(".so") == std::string::npos) {
      programs.push_back("./" + path.lexically_relative(session.workspace.mirror()).string());
    }
  }
  return programs;
}

Result<Built> build_step(const Session& session, size_t expected) {
  VPROF_TRY(install_shims(session));
  std::error_code error;
  if (fs::exists(session.workspace.changed(), error)) {  // the rewriting was interrupted
    VPROF_TRY(make_stale(session, VPROF_TRY(load_index(session))));
  }
  auto finished = VPROF_TRY(run_build(session, expected));
  auto recorded = VPROF_TRY(collect_compile_commands(session.workspace));
  return Built{.seconds = finished.seconds, .compiled = recorded.added};
}

}  // namespace vprof::driver
