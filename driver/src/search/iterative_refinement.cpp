#include "search/iterative_refinement.h"

// Algorithm 3 of the dissertation (2.3.3.4), one iteration after the other, resumable between any
// two steps.
//
//   mirror ─▶ first build ─▶ index ─▶ begin or resume
//        ┌────────────────────────────────────────────────────────────┐
//        ▼                                                            │ expand
//   measure (instrument ─▶ build ─▶ baseline ─▶ run) ─▶ analyze ─▶ decide ─▶ done
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "pipeline/analysis.h"
#include "pipeline/coverage.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "search/ask.h"
#include "search/iterations.h"
#include "search/overhead.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using instrumenter::Program;

class Loop {
 public:
  Loop(Session& session, const LoopOptions& options)
      : session_(session), state_(session.state), options_(options) {}

  Result<void> run() {
    VPROF_TRY(prepare());
    VPROF_TRY(begin_or_resume());
    while (true) {
      if (state_.step == Step::kMeasure) {
        VPROF_TRY(measure());
      }
      if (state_.step == Step::kAnalyze) {
        VPROF_TRY(analyze());
      }
      auto goes_on = VPROF_TRY(decide());
      if (!goes_on) {
        return {};
      }
    }
  }

 private:
  Result<void> prepare() {
    VPROF_TRY(mirror_step(session_));
    VPROF_TRY(first_build_step(session_));
    auto program = VPROF_TRY(index_step(session_));
    program_ = std::move(program);
    auto targets = VPROF_TRY(resolve(session_.config, program_));
    targets_ = std::move(targets);
    for (const std::string& warning : targets_.warnings) {
      warn(warning);
    }
    return {};
  }

  Result<void> begin_or_resume() {
    const std::string wanted = fingerprint(session_.config);
    const bool other_search = state_.iteration > 0 && state_.intervals != wanted;
    if (other_search) {
      say("the intervals in vprof.json have changed: the search begins anew");
    }
    if (options_.restart || other_search) {
      VPROF_TRY(put_away_iterations(session_, 0));
      state_ = restarted(state_);
      VPROF_TRY(session_.save());
    }
    if (options_.from > 0 && !other_search) {
      VPROF_TRY(go_back(session_, options_.from));
    }
    if (state_.iteration == 0) {
      return begin(wanted);
    }
    state_.expanded = follow_edits(state_.expanded, program_);
    if (state_.expanded.empty()) {
      state_.expanded = targets_.roots;
    }
    say(fmt::format("going on with iteration {}", state_.iteration));
    return session_.save();
  }

  Result<void> begin(const std::string& intervals) {
    state_.intervals = intervals;
    return next_iteration(targets_.roots);
  }

  Result<void> next_iteration(const std::vector<std::string>& keys) {
    report::Iteration iteration;
    for (const std::string& key : keys) {
      if (std::find(state_.expanded.begin(), state_.expanded.end(), key) != state_.expanded.end()) {
        continue;
      }
      state_.expanded.push_back(key);
      const instrumenter::Function* function = program_.by_key(key);
      iteration.expanded.push_back(function == nullptr ? key : function->name);
    }
    ++state_.iteration;
    state_.step = Step::kMeasure;
    state_.history.resize(static_cast<size_t>(state_.iteration) - 1);
    iteration.demoted = static_cast<uint64_t>(
        std::count_if(state_.demoted.begin(), state_.demoted.end(),
                      [&](const report::Demoted& one) { return one.since == state_.iteration; }));
    state_.history.push_back(std::move(iteration));
    return session_.save();
  }

  report::Iteration& current() { return state_.history.back(); }

  Result<void> measure() {
    say(fmt::format("\niteration {}: {}", state_.iteration, why_));
    VPROF_TRY(make_directories(session_.workspace.iteration(state_.iteration)));
    auto instrumented = VPROF_TRY(instrument_step(session_, program_, targets_));
    explain(instrumented);
    auto built = VPROF_TRY(build_step(session_));
    if (built.compiled == 0 && !instrumented.files_changed.empty()) {
      warn(fmt::format("{} changed but the build compiled nothing",
                       counted(instrumented.files_changed.size(), "file")));
    }
    current().sites = instrumented.sites;
    current().build_s = built.seconds;
    if (state_.baseline.count == 0) {
      VPROF_TRY(baseline_step(session_, options_.keep_traces));
    }
    auto seconds = VPROF_TRY(record_step(session_, recording_of(session_, /*sites=*/true)));
    current().run_s = seconds;
    state_.step = Step::kAnalyze;
    return session_.save();
  }

  /// `expanding f and g; 41 new call sites; leaving out 2 call sites; rebuilding 3 files`
  void explain(const instrumenter::Summary& instrumented) {
    const uint64_t before =
        state_.iteration > 1 ? state_.history[state_.history.size() - 2].sites : 0;
    const uint64_t added = instrumented.sites > before ? instrumented.sites - before : 0;
    std::vector<std::string> names = expanding_.empty() ? current().expanded : expanding_;
    constexpr size_t kNamed = 4;
    if (names.size() > kNamed) {
      names[kNamed - 1] = fmt::format("{} more", names.size() - kNamed + 1);
      names.resize(kNamed);
    }
    std::vector<std::string> parts;
    if (!names.empty()) {
      parts.push_back("expanding " + listed(names));
      parts.push_back(counted(added, "new call site"));
    }
    if (current().demoted > 0) {
      parts.push_back("leaving out " + counted(current().demoted, "call site"));
    }
    parts.push_back("rebuilding " + counted(instrumented.files_changed.size(), "file"));
    say(fmt::format("{}", fmt::join(parts, "; ")));
    say(coverage_in_short(instrumented));
  }

  Result<void> analyze() {
    auto profile = analyze_trace(session_, session_.workspace.trace(state_.iteration));
    if (!profile) {
      // The recording is of no use; the next attempt makes another one.
      state_.step = Step::kMeasure;
      VPROF_TRY(session_.save());
      return tl::unexpected(profile.error());
    }
    current().mean_ns = profile->interval.mean_ns;
    current().variance_ns2 = profile->interval.variance_ns2;
    current().leading = leading_factors(*profile);
    summarize(*profile);
    VPROF_TRY(judge_overhead(session_, *profile, options_.keep_traces));
    state_.step = Step::kDecide;
    VPROF_TRY(write_report(session_, *profile));
    VPROF_TRY(keep_state(session_));
    VPROF_TRY(session_.save());
    return drop_older_traces();
  }

  static std::vector<report::Leading> leading_factors(const analyzer::Profile& profile) {
    std::vector<report::Leading> leading;
    for (const analyzer::Factor& factor : profile.factors) {
      if (factor.rank > profile.k) {
        break;
      }
      leading.push_back({.factor = factor_name(factor), .contribution = factor.contribution});
    }
    return leading;
  }

  static void summarize(const analyzer::Profile& profile) {
    say(fmt::format("{} intervals, mean {:.3f} ms, standard deviation {:.3f} ms",
                    profile.interval.count, profile.interval.mean_ns / 1e6,
                    profile.interval.stddev_ns / 1e6));
    for (const analyzer::Factor& factor : profile.factors) {
      if (factor.rank > profile.k) {
        break;
      }
      say(fmt::format("  {}. {}: {:.1f} % of the variance", factor.rank, factor_name(factor),
                      100 * factor.contribution));
    }
  }

  /// Traces may be gigabytes; those of the last iteration stay for whoever wants to look closer.
  Result<void> drop_older_traces() {
    for (int n = 1; n < state_.iteration && !options_.keep_traces; ++n) {
      VPROF_TRY(remove_tree(session_.workspace.trace(n)));
    }
    return {};
  }

  /// Whether another iteration was begun.
  Result<bool> decide() {
    auto read =
        VPROF_TRY(read_report(session_.workspace.iteration(state_.iteration) / "report.json"));
    const analyzer::Profile& profile = read.first;
    const Decision decision =
        options_.decide_alone
            ? decide_automatically(profile, program_, state_, session_.config.factors)
            : ask(profile, program_, session_, read_terminal_line);
    take_over(decision);
    VPROF_TRY(write_report(session_, profile));
    if (decision.quit) {
      return stop_for_now();
    }
    const int most =
        options_.max_iterations > 0 ? options_.max_iterations : session_.config.max_iterations;
    const bool again = decision.expand.empty() && worth_thinning(session_, profile);
    if ((decision.expand.empty() && !again) || state_.iteration >= most) {
      return finish(decision, profile, most);
    }
    why_ = again ? "measuring again with a thinner plan" : "breaking down what varies most";
    expanding_ = decision.why;
    VPROF_TRY(next_iteration(decision.expand));
    return true;
  }

  void take_over(const Decision& decision) {
    if (options_.decide_alone) {
      state_.selected.clear();
    }
    state_.selected.insert(state_.selected.end(), decision.selected.begin(),
                           decision.selected.end());
    state_.set_aside.insert(state_.set_aside.end(), decision.set_aside.begin(),
                            decision.set_aside.end());
    if (options_.decide_alone) {
      current().selected.clear();
    }
    for (const Decided& one : decision.selected) {
      current().selected.push_back(one.name);
    }
    for (const Decided& one : decision.set_aside) {
      current().set_aside.push_back(one.name);
    }
  }

  Result<bool> stop_for_now() {
    VPROF_TRY(session_.save());
    say("stopped; `vprof loop` goes on from here, `vprof report` shows what is known so far");
    return false;
  }

  Result<bool> finish(const Decision& decision, const analyzer::Profile& profile, int most) {
    state_.step = Step::kDone;
    VPROF_TRY(session_.save());
    if (decision.expand.empty()) {
      say(
          fmt::format("done after iteration {}: nothing that can be broken down contributes {:.0f} "
                      "% of the variance",
                      state_.iteration, 100 * profile.threshold));
    } else {
      say(fmt::format(
          "stopped after iteration {}, the limit of {}; `--max-iterations` sets another",
          state_.iteration, most));
    }
    return false;
  }

  Session& session_;
  State& state_;
  const LoopOptions& options_;
  Program program_;
  Targets targets_;
  std::string why_ = "measuring the calls of the expanded functions";
  std::vector<std::string> expanding_;  ///< with their parts of the variance, if known
};

}  // namespace

Result<void> refine(Session& session, const LoopOptions& options) {
  return Loop(session, options).run();
}

}  // namespace vprof::driver
