#include "search/live/flight_recorder.h"

#include <chrono>
#include <ctime>

#include "pipeline/analysis.h"
#include "pipeline/own_use/own_processor_time.h"
#include "pipeline/recordings/kept_recordings.h"
#include "pipeline/results.h"
#include "process/commands.h"
#include "process/interrupt.h"
#include "process/progress.h"
#include "search/iterations.h"
#include "search/live/live_run.h"
#include "search/live/slow_bound.h"
#include "search/live/table_windows.h"
#include "search/overhead.h"
#include "vprof/analyzer/details.h"
#include "vprof/analyzer/overhead.h"
#include "vprof/analyzer/recording_copy.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using analyzer::IntervalDetail;
using analyzer::Profile;

constexpr double kWindowLength = 1;     // s
constexpr double kBetweenReports = 10;  // s
constexpr double kSettling = 0.1;       // s: what ran while the sites were switched has ended
constexpr uint64_t kRingMb = 64;        // unless vprof.json says otherwise
constexpr int kMostThinnings = 6;
constexpr size_t kMostNamed = 3;  // slow intervals of one window
/// The program notes the relation of its clocks once a second. The time of what is newer may still
/// move a little, and an interval must not be in two windows.
constexpr int64_t kLagNs = 1'500'000'000;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

/// The innermost place that takes at least half of the interval: `, mostly wait(fsync) in commit`.
std::string mostly(const Profile& profile, const IntervalDetail& interval) {
  struct Place {
    const analyzer::Node* node;
    std::string function;  // around it
  };
  std::vector<Place> places;
  const auto add = [&](const auto& again, const analyzer::Node& node,
                       const std::string& function) -> void {
    places.push_back({&node, function});
    const bool is_call = node.kind == analyzer::NodeKind::kFunction || !node.location.empty();
    for (const analyzer::Node& child : node.children) {
      again(again, child, is_call ? node.function : function);
    }
  };
  add(add, profile.tree, "");
  const Place* found = nullptr;
  for (const analyzer::NodeTime& time : interval.times) {  // parents before their children
    if (time.node < places.size() && 2 * time.ns >= interval.latency_ns) {
      found = &places[time.node];
    }
  }
  if (found == nullptr || found == &places.front()) {
    return "";
  }
  const bool is_call = found->node->kind == analyzer::NodeKind::kFunction;
  return ", mostly " + found->node->function + (is_call ? "" : " in " + found->function);
}

std::string clock_time(int64_t realtime_ns) {
  const std::time_t seconds = realtime_ns / 1'000'000'000;
  struct tm local{};
  char text[32] = "";
  if (::localtime_r(&seconds, &local) != nullptr) {
    std::strftime(text, sizeof text, "%F %T", &local);
  }
  return text;
}

class FlightRecorder {
 public:
  FlightRecorder(Session& session, const WatchOptions& options, SlowBound bound, LiveRun& run)
      : session_(session),
        state_(session.state),
        ws_(session.workspace),
        options_(options),
        bound_(bound),
        run_(run),
        factors_(session.config.factors),
        tables_(ws_, run.trace, options.tables) {}

  Result<void> record() {
    VPROF_TRY(begin());
    VPROF_TRY(census());
    say(fmt::format("watching: intervals that take more than {} are kept in {}",
                    options_.slower_than, shown(ws_.kept())));
    const auto start = Clock::now();
    const double own_before = own_processor_s();
    auto reported = start;
    bool goes_on = true;
    while (goes_on) {
      goes_on =
          pass(kWindowLength) && (options_.seconds == 0 || seconds_since(start) < options_.seconds);
      const int64_t to = monotonic_ns() - (runs_ ? kLagNs : 0);
      VPROF_TRY(look(to));
      VPROF_TRY(tables_.reach(to, !goes_on));
      if (goes_on && seconds_since(reported) >= kBetweenReports) {
        VPROF_TRY(write_report());
        reported = Clock::now();
      }
    }
    if (so_far_.interval.count == 0) {
      return fail(ErrorKind::kNoInterval, "{}", no_interval_message(session_.config));
    }
    const double passed = seconds_since(start);
    say(fmt::format("watched for {:.0f} s; vprof itself took {:.3f} s of processor time a second",
                    passed, (own_processor_s() - own_before) / passed));
    return write_report();
  }

 private:
  /// Measures what the search has expanded; without a search, the calls of the intervals.
  Result<void> begin() {
    VPROF_TRY(restart_if_needed(session_, false));
    if (state_.iteration == 0) {
      VPROF_TRY(next_iteration(session_, run_.armed.program, run_.armed.targets.roots));
    }
    return {};
  }

  Result<void> switch_on() {
    const auto frontier = VPROF_TRY(move_frontier(session_, run_.armed));
    state_.history.back().sites = frontier.sites;
    interruptions_ = run_.frontier->interruptions();
    run_.frontier->switch_to(frontier.on);
    on_since_ = monotonic_ns();
    pass(kSettling);
    from_ = monotonic_ns();
    tables_.restart(on_since_, from_, sites_json(), factors_.interval);
    return session_.save();
  }

  /// Leaves out what costs more than the budget, before anything counts.
  Result<void> census() {
    for (int round = 0; round < kMostThinnings; ++round) {
      VPROF_TRY(switch_on());
      if (!pass(kWindowLength)) {
        return {};
      }
      const int64_t begin = from_;
      const auto profile = VPROF_TRY(analyse(monotonic_ns()));
      from_ = begin;
      if (!profile) {
        return {};  // nothing ends yet
      }
      const bool thinned = VPROF_TRY(
          thin_at_once(session_, *profile,
                       {.trace = ws_.window(), .sites_json = sites_json(), .options = factors_}));
      if (!thinned) {
        return {};
      }
    }
    return switch_on();
  }

  fs::path sites_json() const { return ws_.kept_sites(state_.iteration); }

  /// Whether the watch goes on.
  bool pass(double seconds) {
    const auto start = Clock::now();
    while (runs_ && !interrupt::requested() && seconds_since(start) < seconds) {
      runs_ = run_.target->turn();
    }
    return runs_ && !interrupt::requested();
  }

  /// Takes the intervals that have ended by then.
  Result<void> look(int64_t to) {
    if (to <= from_) {
      return {};
    }
    const int64_t begin = from_;
    const auto profile = VPROF_TRY(analyse(to));
    if (run_.frontier->interruptions() != interruptions_) {
      warn(
          "the program has switched its sites off, as if vprof had been stopped for two seconds; "
          "the intervals of this time are left out");
      VPROF_TRY(tables_.reach(begin, true));
      return switch_on();
    }
    if (profile) {
      VPROF_TRY(add(*profile));
      VPROF_TRY(keep_slow(*profile));
    }
    return {};
  }

  /// The window from the last one to `to`, which becomes the last one.
  Result<std::optional<Profile>> analyse(int64_t to) {
    factors_.epoch = {.from = from_, .to = to, .by_end = true};
    factors_.epoch.processor_ns = processor_.since_then_ns();
    processor_ = ProcessorTime(run_.trace);
    auto profile = VPROF_TRY(analyse_copy(from_));
    if (!profile || profile->interval.incomplete != 0) {
      // Some have begun before it.
      profile = VPROF_TRY(analyse_copy(INT64_MIN));
    }
    from_ = to;
    return profile;
  }

  /// Nothing: no interval has ended there.
  Result<std::optional<Profile>> analyse_copy(int64_t since) {
    VPROF_TRY(remove_tree(ws_.window()));
    VPROF_TRY(make_directories(ws_.window()));
    if (recording_processes(run_.trace).empty() && !has_traces(run_.trace)) {
      return std::nullopt;
    }
    const auto copy =
        VPROF_TRY(analyzer::copy_recording(run_.trace.string(), ws_.window().string(), since));
    if (copy.bytes == 0) {
      return std::nullopt;
    }
    // An interval that began earlier has not passed the same sites as the others.
    factors_.epoch.recorded_since = std::max(copy.complete_since, on_since_);
    auto profile = analyzer::analyze(ws_.window().string(), sites_json().string(), factors_);
    if (profile) {
      return std::move(*profile);
    }
    if (profile.error().kind != ErrorKind::kNoInterval) {
      warn(profile.error().message);
    }
    return std::nullopt;
  }

  static bool has_traces(const fs::path& directory) {
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
      if (it->path().extension() == ".vpt") {
        return true;
      }
    }
    return false;
  }

  Result<void> add(const Profile& window) {
    if (so_far_.interval.count == 0) {
      so_far_ = window;
      return {};
    }
    so_far_ = VPROF_TRY(analyzer::merge(
        {{"the profile so far", std::move(so_far_.bytes)}, {"this window", window.bytes}},
        session_.config.factors));
    return {};
  }

  Result<void> keep_slow(const Profile& window) {
    const auto details = VPROF_TRY(analyzer::details_of(window.bytes));
    const double bound = bound_.ns(so_far_);
    std::vector<const IntervalDetail*> slow;
    for (const IntervalDetail& one : details.worst) {
      if (static_cast<double>(one.latency_ns) >= bound) {
        slow.push_back(&one);
      }
    }
    slow_ += slow.size();
    if (slow.empty()) {
      return {};
    }
    VPROF_TRY(write_file_atomic(ws_.window() / "sites.json", VPROF_TRY(read_file(sites_json()))));
    const fs::path kept = VPROF_TRY(keep_recording(ws_, ws_.window(), options_.keep_mb << 20));
    for (size_t i = 0; i < std::min(slow.size(), kMostNamed); ++i) {
      const IntervalDetail& one = *slow[i];
      say(fmt::format("{}  #{}  {:.1f} ms{}{}", clock_time(one.run + one.begin_ns), one.id,
                      static_cast<double>(one.latency_ns) / 1e6,
                      one.label.empty() ? "" : "  " + one.label, mostly(window, one)));
    }
    if (slow.size() > kMostNamed) {
      say(fmt::format("  and {} more in {}", slow.size() - kMostNamed, shown(kept)));
    }
    return {};
  }

  Result<void> write_report() {
    if (so_far_.interval.count == 0) {
      return {};
    }
    compare_with(state_.baseline, so_far_);
    VPROF_TRY(write_metrics(session_, options_.metrics, so_far_, start_s_, slow_));
    return write_watched(session_, so_far_);
  }

  Session& session_;
  State& state_;
  const Workspace& ws_;
  const WatchOptions& options_;
  const SlowBound bound_;
  LiveRun& run_;
  analyzer::Options factors_;
  ProcessorTime processor_{run_.trace};  // since the last window
  bool runs_ = true;                     // the program
  int64_t on_since_ = 0;                 // these sites
  int64_t from_ = 0;                     // the windows so far end here
  uint64_t interruptions_ = 0;
  TableWindows tables_;
  const double start_s_ =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  uint64_t slow_ = 0;
  Profile so_far_;
};

}  // namespace

Result<void> watch(Session& session, const WatchOptions& options) {
  const SlowBound bound = VPROF_TRY(SlowBound::parse(options.slower_than));
  VPROF_TRY(check_tables(options.tables));
  const auto configured = static_cast<uint64_t>(session.config.ring_mb);
  LiveRun run =
      VPROF_TRY(begin_live_run(session, options.attach, configured == 0 ? kRingMb : configured));
  auto watched = FlightRecorder(session, options, bound, run).record();
  run.leave();
  return watched;
}

}  // namespace vprof::driver
