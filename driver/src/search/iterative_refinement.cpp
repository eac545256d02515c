#include "search/iterative_refinement.h"

#include <algorithm>

#include "pipeline/analysis.h"
#include "pipeline/results.h"
#include "pipeline/steps.h"
#include "pipeline/whole_build.h"
#include "process/commands.h"
#include "search/ask.h"
#include "search/iterations.h"
#include "search/look_ahead.h"
#include "search/narration.h"
#include "search/overhead.h"
#include "vprof/report/message.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using analyzer::Profile;
using instrumenter::Program;

/// Algorithm 3, one iteration after the other. It can be interrupted and resumed between any two
/// steps; State::step is the step to resume with.
///
///   mirror ─▶ first build ─▶ index ─▶ begin or resume
///        ┌────────────────────────────────────────────────────────────┐
///        ▼                                                            │ expand
///   measure (instrument ─▶ build ─▶ baseline ─▶ run) ─▶ analyze ─▶ decide ─▶ done
class Refinement {
 public:
  Refinement(Session& session, const LoopOptions& options)
      : session_(session), state_(session.state), options_(options) {}

  Result<void> run() {
    VPROF_TRY(prepare());
    VPROF_TRY(begin_or_resume());                       // lines 1 to 3
    bool expanding = true;                              // e
    while (expanding) {                                 // line 4
      const Profile profile = VPROF_TRY(break_down());  // lines 5 to 11
      if (options_.only_measure) {
        return {};
      }
      expanding = VPROF_TRY(decide(profile));  // lines 12 to 20
    }
    return {};
  }

 private:
  /// Everything up to the call graph that the search works on.
  Result<void> prepare() {
    VPROF_TRY(mirror_step(session_));
    VPROF_TRY(first_build_step(session_));
    program_ = VPROF_TRY(index_step(session_));
    targets_ = VPROF_TRY(resolve(session_.config, program_));
    for (const std::string& warning : targets_.warnings) {
      warn(warning);
    }
    return {};
  }

  // ---- lines 1 to 3: where the search starts

  Result<void> begin_or_resume() {
    const bool other_search = VPROF_TRY(restart_if_needed(session_, options_.restart));
    if (options_.from > 0 && !other_search) {
      VPROF_TRY(go_back(session_, options_.from));
    }
    if (state_.iteration == 0) {
      return next_iteration(session_, program_,
                            with_functions_below(targets_.roots, targets_.roots, kSingleCallees));
    }
    state_.expanded = follow_edits(state_.expanded, program_);
    if (state_.expanded.empty()) {
      state_.expanded = targets_.roots;
    }
    say(fmt::format("resuming iteration {}", state_.iteration));
    return session_.save();
  }

  report::Iteration& current() { return state_.history.back(); }

  // ---- lines 5 to 11: break the expanded functions down and rank the factors

  Result<Profile> break_down() {
    if (state_.step == Step::kMeasure) {
      VPROF_TRY(measure());
    }
    if (state_.step == Step::kAnalyze) {
      return analyze();
    }
    return load_profile(session_);  // resumed after the analysis
  }

  Result<void> measure() {
    say("\n" +
        report::heading(fmt::format("iteration {}: {}", state_.iteration, purpose_), narration()));
    VPROF_TRY(make_directories(session_.workspace.iteration(state_.iteration)));
    const Instrumented instrumented = VPROF_TRY(instrument_step(session_, program_, targets_));
    expansion_.new_calls = VPROF_TRY(keep_sites(session_));
    say_instrumented(current(), instrumented, expansion_);
    const WholeBuild built =
        VPROF_TRY(whole_build_step(session_, program_, targets_, Extent::kFrontier));
    if (built.rewritten) {
      VPROF_TRY(keep_sites(session_));
    }
    current().sites = built.sites;
    current().build_s = built.seconds;
    const std::string command = command_of(workload_run(session_, Sites::kOff));
    const bool compared = state_.baseline.count > 0 && state_.baseline.command == command;
    if (!compared && !options_.only_measure) {
      VPROF_TRY(baseline_step(session_, options_.keep_traces));
    }
    WorkloadRun run = workload_run(session_, Sites::kOn);
    run.stoppable = options_.only_measure;
    run.stop_after_s = options_.stop_after_s;
    if (options_.only_measure) {
      say_stoppable(run);
    }
    current().run_s = VPROF_TRY(record_step(session_, run));
    state_.step = Step::kAnalyze;
    return session_.save();
  }

  Result<Profile> analyze() {
    auto analyzed = analyze_trace(session_, session_.workspace.trace(state_.iteration));
    if (!analyzed) {
      // The recording is useless; the next attempt makes another one.
      state_.step = Step::kMeasure;
      VPROF_TRY(session_.save());
      return analyzed;
    }
    Profile profile = std::move(*analyzed);
    keep_measured(profile, state_);
    say_measured(profile);
    const fs::path trace = session_.workspace.trace(state_.iteration);
    VPROF_TRY(judge_overhead(
        session_, profile,
        {.trace = trace, .sites_json = trace / "sites.json", .options = session_.config.factors}));
    state_.step = Step::kDecide;
    VPROF_TRY(save_profile(session_, profile));
    VPROF_TRY(write_report(session_, profile));
    VPROF_TRY(keep_state(session_));
    VPROF_TRY(session_.save());
    VPROF_TRY(drop_older_traces());
    return profile;
  }

  /// Traces can take gigabytes. Those of the last iteration stay for a closer look.
  Result<void> drop_older_traces() {
    for (int n = 1; n < state_.iteration && !options_.keep_traces; ++n) {
      VPROF_TRY(remove_tree(session_.workspace.trace(n)));
    }
    return {};
  }

  // ---- lines 12 to 20: decide what to break down next

  /// Whether another iteration follows (e).
  Result<bool> decide(const Profile& profile) {
    const Decision decision =
        options_.decide_alone
            ? decide_automatically(profile, program_, state_, session_.config.factors)
            : ask(profile, program_, session_, read_terminal_line);
    record(decision, options_.decide_alone, state_);
    VPROF_TRY(write_report(session_, profile));
    if (decision.quit) {
      return stop_for_now();
    }
    const int most =
        options_.max_iterations > 0 ? options_.max_iterations : session_.config.max_iterations;
    const bool at_limit = most > 0 && state_.iteration >= most;
    const bool exhausted = decision.expand.empty();
    const bool thinner = exhausted && !at_limit && worth_thinning(session_, profile);
    if (exhausted && !thinner) {
      return finish(nothing_left(state_.iteration, profile.threshold));
    }
    if (at_limit) {
      return finish(fmt::format(
          "stopped after iteration {}, the limit of {}; `--max-iterations` sets another",
          state_.iteration, most));
    }
    purpose_ = thinner ? "measuring again with a thinner plan" : "breaking down what varies most";
    expansion_.of = decision.why;
    VPROF_TRY(
        next_iteration(session_, program_,
                       with_functions_below(decision.expand, decision.open_ended, kNarrowCalls)));
    return true;
  }

  std::vector<std::string> with_functions_below(std::vector<std::string> keys,
                                                const std::vector<std::string>& open_ended,
                                                const Foresight& foresight) {
    const std::vector<std::string> below = look_ahead(open_ended, program_, state_, foresight);
    expansion_.ahead = below.size();
    keys.insert(keys.end(), below.begin(), below.end());
    return keys;
  }

  Result<bool> stop_for_now() {
    VPROF_TRY(session_.save());
    say("stopped; `vprof loop` resumes here, `vprof report` shows the results so far");
    return false;
  }

  Result<bool> finish(const std::string& why) {
    state_.step = Step::kDone;
    VPROF_TRY(session_.save());
    say(why);
    return false;
  }

  Session& session_;
  State& state_;
  const LoopOptions& options_;
  Program program_;
  Targets targets_;
  std::string purpose_ = "measuring the calls of the expanded functions";
  Expansion expansion_;
};

}  // namespace

Result<void> refine(Session& session, const LoopOptions& options) {
  return Refinement(session, options).run();
}

}  // namespace vprof::driver
