#include "search/live/live_search.h"

#include <algorithm>
#include <chrono>

#include "pipeline/analysis.h"
#include "pipeline/own_use/low_priority.h"
#include "pipeline/own_use/own_processor_time.h"
#include "pipeline/results.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "process/interrupt.h"
#include "search/iterations.h"
#include "search/live/epoch.h"
#include "search/live/live_run.h"
#include "search/live/screen/audience.h"
#include "search/live/screen/live_screen.h"
#include "search/look_ahead.h"
#include "search/narration.h"
#include "search/overhead.h"
#include "search/policy.h"
#include "vprof/analyzer/overhead.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using analyzer::Profile;

/// Fewer intervals say little about a variance.
constexpr uint64_t kLeastIntervals = EpochLength::kFewIntervals;
/// How long a new frontier is measured to learn what it costs, before it is measured in earnest.
constexpr EpochLength kCensus{.least = 0.25, .most = 0.25, .phase = report::LivePhase::kCensus};
/// How many times as long an epoch may last if it cannot tell what may be chance.
constexpr double kLongest = 4;
/// How often the frontier is thinned before one that costs too much is measured all the same.
constexpr int kMostCensuses = 6;
/// How often an epoch is measured that a process has disturbed.
constexpr int kMostAttempts = 3;
/// What a baseline without sites is compared with: runs of this kind.
constexpr const char* kLiveCommand = "(live)";

/// Whether a longer epoch would hardly change the answer: the first factor is certainly before the
/// second, and what is near the threshold is certainly above or below it.
bool is_clear(const Profile& profile) {
  const auto undecided = [&](const analyzer::Factor& factor) {
    return factor.rank <= profile.k && factor.kind == analyzer::FactorKind::kVariance &&
           factor.share_ci95[0] < profile.threshold && factor.share_ci95[1] > profile.threshold;
  };
  const std::vector<analyzer::Factor>& factors = profile.factors;
  // How certain a covariance is, is not known.
  const bool has_first =
      factors.size() < 2 || (factors[0].kind == analyzer::FactorKind::kVariance &&
                             factors[0].share_ci95[0] > factors[1].share_ci95[1]);
  return has_first && std::ranges::none_of(factors, undecided);
}

Verdict enough_if(bool is_enough) { return is_enough ? Verdict::kEnough : Verdict::kGoOn; }

/// Algorithm 3 on a running program, one iteration after the other.
///
///   baseline ─▶ [ census ─▶ thin ]* ─▶ measure ─▶ decide ─▶ done
///                  ▲                               │ expand
///                  └───────────────────────────────┘
class LiveRefinement {
 public:
  /// @param onlooker nullptr: nobody looks
  LiveRefinement(Session& session, const LiveOptions& options, const LiveRun& run,
                 Onlooker* onlooker)
      : session_(session),
        state_(session.state),
        options_(options),
        armed_(run.armed),
        trace_(run.trace),
        audience_(session, run.armed.program, run.trace, onlooker),
        guidance_(audience_.guidance()),
        epochs_(session, run.trace, *run.frontier, *run.target, audience_.hooks()) {}

  Result<void> run() {
    VPROF_TRY(begin_or_resume());
    bool expanding = true;
    while (expanding) {
      const std::optional<Profile> profile = VPROF_TRY(break_down());
      if (!profile) {
        return stop_for_now();
      }
      VPROF_TRY(at_low_priority(budget_, [&] { return keep(*profile); }));
      if (guidance_.wants_to_stop()) {
        VPROF_TRY(select_answers(*profile));
        return stop_for_now();
      }
      expanding = VPROF_TRY(at_low_priority(budget_, [&] { return decide(*profile); }));
    }
    return {};
  }

 private:
  Result<void> begin_or_resume() {
    VPROF_TRY(restart_if_needed(session_, options_.restart));
    if (state_.iteration == 0) {
      const std::vector<std::string>& roots = armed_.targets.roots;
      return next_iteration(session_, armed_.program,
                            with_functions_below(roots, roots, kSingleCallees));
    }
    state_.expanded = follow_edits(state_.expanded, armed_.program);
    if (state_.expanded.empty()) {
      state_.expanded = armed_.targets.roots;
    }
    state_.step = Step::kMeasure;
    say(fmt::format("resuming iteration {}", state_.iteration));
    return session_.save();
  }

  std::vector<std::string> with_functions_below(std::vector<std::string> keys,
                                                const std::vector<std::string>& open_ended,
                                                const Foresight& foresight) const {
    const std::vector<std::string> below =
        look_ahead(open_ended, armed_.program, state_, foresight);
    keys.insert(keys.end(), below.begin(), below.end());
    return keys;
  }

  fs::path sites_json() const { return session_.workspace.kept_sites(state_.iteration); }

  // ---- measuring

  /// Nothing: the program has ended.
  Result<std::optional<Profile>> break_down() {
    Frontier frontier = VPROF_TRY(switch_frontier());
    say(fmt::format("\niteration {}: {} ({} on)", state_.iteration, purpose_,
                    counted(frontier.sites, "site")));
    audience_.see_iteration(purpose_, frontier.sites);
    if (state_.baseline.count == 0 || state_.baseline.command != kLiveCommand) {
      VPROF_TRY(measure_baseline());
    }
    for (int round = 0; round < kMostCensuses && epochs_.goes_on(); ++round) {
      const bool thinned = VPROF_TRY(thin_by_census(frontier.on));
      if (!thinned) {
        break;
      }
      frontier = VPROF_TRY(switch_frontier());
      audience_.see_iteration(purpose_, frontier.sites);
    }
    auto profile = VPROF_TRY(measure(frontier.on, sites_json(), length(),
                                     [&](const Profile& seen) { return verdict_on(seen); }));
    // An epoch that the user has cut off is no better than the one before unless it has enough.
    if (profile && guidance_.wants_to_stop() && profile->interval.count < kLeastIntervals) {
      profile.reset();
    }
    return profile;
  }

  Verdict verdict_on(const Profile& seen) const {
    const bool many = seen.interval.count >= kLeastIntervals;
    if (!at_limit() && goes_deeper(seen, armed_.program, state_, session_.config.factors)) {
      return enough_if(many);
    }
    return may_be_overtaken(seen) ? Verdict::kVague : enough_if(many && is_clear(seen));
  }

  /// An epoch in which no process has switched the sites off.
  Result<std::optional<Profile>> measure(const std::vector<uint32_t>& on, const fs::path& sites,
                                         const EpochLength& length,
                                         const std::function<Verdict(const Profile&)>& judge) {
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      auto profile = VPROF_TRY(epochs_.measure(on, sites, length, judge));
      if (!epochs_.was_disturbed() || !epochs_.goes_on()) {
        return profile;
      }
    }
    return fail(
        "the program has switched its sites off {} times while it was measured, as if vprof had "
        "been stopped for two seconds each time; try again when the machine is less busy",
        kMostAttempts);
  }

  EpochLength length() const {
    return {.least = options_.least_epoch,
            .most = options_.most_epoch,
            .longest = kLongest * options_.most_epoch,
            .can_be_cut = true};
  }

  Result<Frontier> switch_frontier() {
    Frontier frontier =
        VPROF_TRY(at_low_priority(budget_, [&] { return move_frontier(session_, armed_); }));
    state_.history.back().sites = frontier.sites;
    // What reads single intervals later finds recording and sites where the loop leaves them.
    VPROF_TRY(write_file_atomic(trace_ / "sites.json", VPROF_TRY(read_file(sites_json()))));
    const fs::path link = session_.workspace.trace(state_.iteration);
    VPROF_TRY(remove_tree(link));
    std::error_code error;
    fs::create_directory_symlink(fs::absolute(trace_), link, error);
    return frontier;
  }

  Result<void> measure_baseline() {
    const auto enough = [](const Profile& profile) {
      return enough_if(profile.interval.count >= kLeastIntervals);
    };
    EpochLength baseline = length();
    baseline.phase = report::LivePhase::kBaseline;
    baseline.can_be_cut = false;
    const auto profile = VPROF_TRY(measure({}, sites_json(), baseline, enough));
    const bool is_cut_off =
        guidance_.wants_to_stop() && profile && profile->interval.count < kLeastIntervals;
    if (profile && !is_cut_off) {
      state_.baseline = baseline_of(*profile, state_.iteration);
      state_.baseline.command = kLiveCommand;
      audience_.see(*profile, epochs_.seconds());
      // Latencies are something to report if the program ends before any call is measured.
      VPROF_TRY(at_low_priority(budget_, [&]() -> Result<void> {
        VPROF_TRY(save_profile(session_, *profile));
        return write_report(session_, *profile);
      }));
    }
    return session_.save();
  }

  /// Measures for a moment and leaves out what costs too much. Returns whether there was any.
  Result<bool> thin_by_census(const std::vector<uint32_t>& on) {
    const auto profile = VPROF_TRY(epochs_.measure(
        on, sites_json(), kCensus, [](const Profile&) { return Verdict::kEnough; }));
    if (!profile) {
      return false;
    }
    return at_low_priority(budget_, [&] { return thin_at_once(session_, *profile, recording()); });
  }

  MeasuredTrace recording() const {
    return {.trace = trace_, .sites_json = sites_json(), .options = epochs_.options()};
  }

  Result<void> keep(const Profile& measured) {
    Profile profile = measured;
    compare_with(state_.baseline, profile);
    keep_measured(profile, state_);
    audience_.see(profile, epochs_.seconds());
    say_measured(profile);
    say_cost(profile.overhead);
    VPROF_TRY(judge_overhead(session_, profile, recording()));
    state_.step = Step::kDecide;
    VPROF_TRY(save_profile(session_, profile));
    VPROF_TRY(write_report(session_, profile));
    VPROF_TRY(write_metrics(session_, options_.metrics, profile, start_s_));
    VPROF_TRY(keep_state(session_));
    last_ = std::move(profile);
    return session_.save();
  }

  static void say_cost(const analyzer::Overhead& overhead) {
    const double cost = analyzer::program_cost(overhead);
    std::string text = fmt::format("recording adds {:.1f} % to the time that the program is busy",
                                   100 * cost * overhead.recorded_part);
    if (overhead.recorded_part < 1) {
      text += fmt::format(": {:.1f} % in {:.0f} % of the time", 100 * cost,
                          100 * overhead.recorded_part);
    }
    say(text);
  }

  // ---- deciding

  bool at_limit() const {
    const int most = session_.config.max_iterations;
    return most > 0 && state_.iteration >= most;
  }

  /// Whether another iteration follows.
  Result<bool> decide(const Profile& measured) {
    Profile profile = measured;
    compare_with(state_.baseline, profile);
    Decision decision =
        decide_automatically(profile, armed_.program, state_, session_.config.factors);
    Decision wanted = guidance_.take_decision();
    const bool wanted_by_user = !wanted.expand.empty();
    if (wanted_by_user) {
      decision.expand = std::move(wanted.expand);
      decision.open_ended = std::move(wanted.open_ended);
      decision.why = std::move(wanted.why);
    }
    record(decision, true, state_);
    VPROF_TRY(write_report(session_, profile));
    const bool thinner =
        decision.expand.empty() && !at_limit() && worth_thinning(session_, profile);
    if (decision.expand.empty() && !thinner) {
      return finish(nothing_left(state_.iteration, profile.threshold));
    }
    if (at_limit() && !wanted_by_user) {
      return finish(fmt::format("stopped after iteration {}, the limit by `max_iterations`",
                                state_.iteration));
    }
    purpose_ =
        thinner ? "measuring again with fewer sites" : "breaking down " + listed(decision.why);
    VPROF_TRY(
        next_iteration(session_, armed_.program,
                       with_functions_below(decision.expand, decision.open_ended, kArmedCalls)));
    return true;
  }

  /// The user stops the search: nothing follows, but what was measured has its answers.
  Result<void> select_answers(const Profile& measured) {
    Profile profile = measured;
    compare_with(state_.baseline, profile);
    record(decide_automatically(profile, armed_.program, state_, session_.config.factors), true,
           state_);
    return {};
  }

  Result<bool> finish(const std::string& why) {
    state_.step = Step::kDone;
    VPROF_TRY(session_.save());
    say(why);
    return false;
  }

  Result<void> stop_for_now() {
    VPROF_TRY(session_.save());
    if (interrupt::requested()) {
      return fail(ErrorKind::kInterrupted, "interrupted");
    }
    if (guidance_.wants_to_stop()) {
      if (state_.baseline.count == 0) {
        return fail("stopped before anything was measured; `vprof live` begins again");
      }
      say("stopped; the next `vprof live` goes on from here, without a build" + whose_report());
      // With what the user has decided since.
      return last_ ? write_report(session_, *last_) : Result<void>();
    }
    if (state_.baseline.count == 0) {
      return fail(ErrorKind::kNoInterval, "{}", why_nothing(trace_, session_));
    }
    say("the program has ended; the next `vprof live` goes on from here, without a build" +
        whose_report());
    return {};
  }

  std::string whose_report() const {
    return last_ ? "" : "; nothing was measured this time, so the report is the one of before";
  }

  Session& session_;
  State& state_;
  const double budget_ = session_.config.overhead_budget;
  const double start_s_ =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const LiveOptions& options_;
  const ArmedProgram& armed_;
  const fs::path trace_;
  Audience audience_;
  Guidance& guidance_;
  Epochs epochs_;
  std::optional<Profile> last_;  // that was kept
  std::string purpose_ = "measuring the calls of the expanded functions";
};

}  // namespace

Result<fs::path> prepare_live(Session& session) {
  VPROF_TRY(arm(session));
  fs::path trace = session.workspace.live_trace();
  VPROF_TRY(make_directories(trace));
  VPROF_TRY(make_frontier_file(trace));
  return trace;
}

Result<Searched> refine_live(Session& session, const LiveOptions& options) {
  LiveRun run = VPROF_TRY(begin_live_run(session, options.attach));
  VPROF_TRY(run.start(session, 0));
  std::unique_ptr<LiveScreen> screen;
  if (!options.plain && !options.json) {
    screen = LiveScreen::open(session, run.armed.program);
  }
  const auto start = std::chrono::steady_clock::now();
  const auto done = LiveRefinement(session, options, run, screen.get()).run();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  screen.reset();
  run.leave();
  VPROF_TRY(done);
  return Searched{.seconds = passed.count(), .own = run.own};
}

}  // namespace vprof::driver
