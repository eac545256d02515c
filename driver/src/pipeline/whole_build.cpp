#include "pipeline/whole_build.h"

#include <algorithm>
#include <map>
#include <set>

#include "build/inspection.h"
#include "build/manifest.h"
#include "build/stale_objects.h"
#include "process/commands.h"
#include "vprof/instrumenter/plan.h"
#include "vprof/instrumenter/summary.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

/// A file that is generated as often as this, in builds that follow each other, always will be. Two
/// times may be the end of a chain: a generator was rewritten, and then what it reads.
constexpr int kAlwaysGenerated = 3;

std::string first_of(const std::vector<std::string>& files) {
  return files.size() == 1 ? files[0] : fmt::format("{} and {} more", files[0], files.size() - 1);
}

/// Deletes everything in the mirror that is not from the source: what configure and the build have
/// made.
Result<void> delete_generated(const Workspace& workspace) {
  const Manifest source = load_manifest(workspace);
  const fs::path mirror = workspace.mirror();
  std::vector<fs::path> generated;
  std::error_code error;
  for (auto item = fs::recursive_directory_iterator(mirror, error);
       item != fs::recursive_directory_iterator(); item.increment(error)) {
    if (error) {
      return fail("cannot read {}: {}", shown(mirror), error.message());
    }
    if (!source.contains(item->path().lexically_relative(mirror).string())) {
      generated.push_back(item->path());
      item.disable_recursion_pending();
    }
  }
  for (const fs::path& path : generated) {
    VPROF_TRY(remove_tree(path));
  }
  return {};
}

class Passes {
 public:
  Passes(Session& session, instrumenter::Program& program, Targets& targets, Extent extent)
      : session_(session), program_(program), targets_(targets), extent_(extent) {}

  Result<WholeBuild> run() {
    VPROF_TRY(forget_earlier_logs());
    while (true) {
      const auto summary = VPROF_TRY(instrumenter::load_summary(session_.workspace.summary()));
      const size_t expected = units_with(program_, summary.files_changed);
      const Built built = VPROF_TRY(build_step(session_, expected));
      out_.seconds += built.seconds;
      out_.compiled += built.compiled;
      out_.sites = summary.sites;
      Inspection found = VPROF_TRY(inspect_build(session_.workspace, program_, summary));
      add_missing(found.gaps);
      if (!found.regenerated.empty()) {
        VPROF_TRY(rewrite_generated(found));
      } else if (!found.gaps.empty()) {
        VPROF_TRY(mend(found.gaps));
      } else {
        warn_of_unlinked(found.unlinked);
        return out_;
      }
      VPROF_TRY(keep_log());
    }
  }

 private:
  fs::path log(int pass) const {
    const std::string name = pass == 0 ? "build.log" : fmt::format("build.{}.log", pass);
    return session_.workspace.iteration(session_.state.iteration) / name;
  }

  /// Of an earlier build in the same iteration.
  Result<void> forget_earlier_logs() const {
    std::error_code error;
    for (int pass = 1; fs::exists(log(pass), error); ++pass) {
      VPROF_TRY(remove_tree(log(pass)));
    }
    return {};
  }

  /// The next pass compiles less than this one, so its log lacks most of the warnings.
  Result<void> keep_log() {
    std::error_code error;
    fs::rename(log(0), log(++kept_logs_), error);
    return error ? fail("cannot rename {}: {}", shown(log(0)), error.message()) : Result<void>();
  }

  Result<void> rewrite_generated(const Inspection& found) {
    std::vector<std::string> files;
    for (const auto& [file, hash] : found.regenerated) {
      files.push_back(file);
      if (++generated_[file] >= kAlwaysGenerated) {
        return fail(
            "{} is generated again by each build, so what is inserted there is lost: let \"build\" "
            "write it only if its inputs change, or add \"{}\" to \"exclude\" in vprof.json ({})",
            file, file, shown(log(0)));
      }
    }
    say(fmt::format("the build has generated {} again: instrumenting and building again",
                    first_of(files)));
    program_ = VPROF_TRY(index_step(session_));
    targets_ = VPROF_TRY(resolve(session_.config, program_));
    session_.state.expanded = follow_edits(session_.state.expanded, program_);
    VPROF_TRY(instrument_step(session_, program_, targets_, extent_));
    out_.rewritten = true;
    return session_.save();
  }

  /// A program that was deleted for the build to link it, and is not there.
  void add_missing(std::vector<Gap>& gaps) const {
    std::error_code error;
    for (const auto& [program, gap] : to_link_) {
      if (!fs::exists(program, error)) {
        gaps.push_back(gap);
      }
    }
  }

  Result<void> mend(const std::vector<Gap>& gaps) {
    const bool only_links = std::ranges::all_of(
        gaps, [&](const Gap& g) { return !g.program.empty() && !deleted_.contains(g.program); });
    if (!only_links) {
      return begin_again(gaps);
    }
    for (const Gap& gap : gaps) {
      if (!session_.workspace.in_mirror(gap.program)) {
        return fail(
            "{}: the build did not link it again, and vprof deletes nothing outside of its copy "
            "({}); delete it, or let \"build\" write it within its own directory",
            gap.program.string(), shown(session_.workspace.mirror()));
      }
    }
    say(fmt::format("{}: linking again", described(gaps)));
    for (const Gap& gap : gaps) {
      deleted_.insert(gap.program);
      to_link_.emplace(gap.program, gap);
      VPROF_TRY(remove_tree(gap.program));
    }
    return {};
  }

  Result<void> begin_again(const std::vector<Gap>& gaps) {
    if (from_nothing_) {
      return fail(
          "{}, also not when it begins with nothing: let \"configure\" and \"build\" do so, or add "
          "\"{}\" to \"exclude\" in vprof.json",
          described(gaps), gaps[0].file);
    }
    say(fmt::format("{}: building everything again", described(gaps)));
    from_nothing_ = true;
    generated_.clear();
    deleted_.clear();
    VPROF_TRY(delete_generated(session_.workspace));
    session_.state.configured.clear();
    return configure_step(session_);
  }

  static std::string described(const std::vector<Gap>& gaps) {
    return fmt::format("{} is instrumented, but {}{}", gaps[0].file, gaps[0].what,
                       gaps.size() == 1 ? "" : fmt::format(" ({} such)", gaps.size()));
  }

  static void warn_of_unlinked(const std::vector<std::string>& files) {
    if (!files.empty()) {
      warn(
          fmt::format("instrumented and compiled, but in no program or library that was linked: {}",
                      first_of(files)));
    }
  }

  Session& session_;
  instrumenter::Program& program_;
  Targets& targets_;
  Extent extent_;
  WholeBuild out_;
  std::map<std::string, int> generated_;  // how often, by file
  std::set<fs::path> deleted_;            // programs, since the last begin
  std::map<fs::path, Gap> to_link_;       // programs that have been deleted
  bool from_nothing_ = false;
  int kept_logs_ = 0;
};

}  // namespace

Result<WholeBuild> whole_build_step(Session& session, instrumenter::Program& program,
                                    Targets& targets, Extent extent) {
  return Passes(session, program, targets, extent).run();
}

Result<WholeBuild> rebuild_step(Session& session) {
  const Workspace& ws = session.workspace;
  std::error_code error;
  // Before `vprof instrument` there is nothing that a build could lose.
  if (!fs::exists(ws.plan(), error) || !fs::exists(ws.summary(), error)) {
    const Built built = VPROF_TRY(build_step(session));
    return WholeBuild{.seconds = built.seconds, .compiled = built.compiled};
  }
  auto program = VPROF_TRY(load_index(session));
  auto targets = VPROF_TRY(resolve(session.config, program));
  const auto plan = VPROF_TRY(instrumenter::load_plan(ws.plan()));
  return whole_build_step(session, program, targets, extent_of(plan));
}

Result<bool> instrument_again_step(Session& session) {
  // plan.json itself is empty: the files were restored.
  const fs::path file = session.workspace.iteration(session.state.iteration) / "plan.json";
  std::error_code error;
  if (session.state.history.empty() || !fs::exists(file, error)) {
    return false;
  }
  const auto last = VPROF_TRY(instrumenter::load_plan(file));
  const auto program = VPROF_TRY(index_step(session));
  const auto targets = VPROF_TRY(resolve(session.config, program));
  for (const std::string& warning : targets.warnings) {
    warn(warning);
  }
  session.state.expanded = follow_edits(session.state.expanded, program);
  if (session.state.expanded.empty()) {
    session.state.expanded = targets.roots;
  }
  const auto done = VPROF_TRY(instrument_step(session, program, targets, extent_of(last)));
  session.state.history.back().sites = done.sites;
  say(fmt::format("instrumented as before: {}", counted(done.sites, "site")));
  VPROF_TRY(session.save());
  return true;
}

}  // namespace vprof::driver
