#include "search/live/watch/flight_recorder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "pipeline/analysis.h"
#include "pipeline/own_use/low_priority.h"
#include "pipeline/own_use/own_processor_time.h"
#include "pipeline/results.h"
#include "process/commands.h"
#include "process/interrupt.h"
#include "search/iterations.h"
#include "search/live/cost_factor.h"
#include "search/live/live_run.h"
#include "search/live/watch/ended_processes.h"
#include "search/live/watch/processor_history.h"
#include "search/live/watch/slow_intervals.h"
#include "search/live/watch/table_windows.h"
#include "search/live/watch/watch_pace.h"
#include "search/live/watch/watch_window.h"
#include "search/overhead.h"
#include "vprof/analyzer/overhead.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using analyzer::Profile;

constexpr double kWindowLength = 1;     // s
constexpr double kNotePeriod = 0.2;     // s: of the program's processor time
constexpr double kTablePeriod = 10;     // s: between slices, each of which is a file
constexpr double kBetweenReports = 10;  // s
/// A disk with less room, bytes, may have none for the program's next chunks.
constexpr uintmax_t kLeastRoom = 8 << 20;
constexpr uint64_t kRingMb = 64;  // unless vprof.json says otherwise
constexpr int kMostThinnings = 6;
/// The program notes the relation of its clocks once a second. The time of what is newer may still
/// move a little, and an interval must not be in two windows.
constexpr int64_t kLagNs = 1'500'000'000;
/// An interval that began this much earlier than a window is looked for at once; later, if need be.
constexpr int64_t kReachBackNs = 50'000'000;
/// A slice waits so long for intervals that have not ended, s.
constexpr double kLeastPatience = 1, kMostPatience = 10;
/// The trace of a process that has ended is read no more after this time, s: with tables, whose
/// windows are up to a minute long, twice that.
constexpr double kKeepEnded = 30, kKeepEndedForTables = 150;
/// What is missing beyond this was not recorded now and then.
constexpr double kAllButMoments = 0.98;

using Clock = std::chrono::steady_clock;

bool is_full(const fs::path& directory) {
  std::error_code error;
  const fs::space_info disk = fs::space(directory, error);
  return !error && disk.available < kLeastRoom;
}

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

void warn_of(const std::vector<std::string>& without_sites) {
  if (without_sites.empty()) {
    return;
  }
  const size_t more = without_sites.size() - 1;
  warn(fmt::format(
      "--expand: the armed program has no site of a call in {}{}: small functions have none",
      without_sites[0], more == 0 ? "" : fmt::format(" and {} more", more)));
}

class FlightRecorder {
 public:
  FlightRecorder(Session& session, const WatchOptions& options, SlowBound bound, LiveRun& run)
      : session_(session),
        state_(session.state),
        ws_(session.workspace),
        options_(options),
        slow_(session.workspace, bound, options.keep_mb),
        run_(run),
        factors_(session.config.factors),
        windows_(ws_, run.trace),
        pace_({.budget = session.config.overhead_budget,
               .processors = processors_in(1),
               .period = options.tables.out.empty() ? kWindowLength : kTablePeriod},
              has_census() ? WatchPace::Start::kAllTheTime : WatchPace::Start::kMoments),
        tables_(ws_, run.trace, options.tables),
        ended_(run.trace, options.tables.out.empty() ? kKeepEnded : kKeepEndedForTables) {}

  /// What can be done before the program starts.
  Result<void> prepare() {
    VPROF_TRY(begin());
    return has_census() ? Result<void>() : prepare_slices();
  }

  Result<void> record() {
    own_.step();
    from_ = monotonic_ns();
    if (has_census()) {
      VPROF_TRY(census());
    }
    watch_from_ = watched_to_ = from_;
    say(fmt::format("watching: intervals that take more than {} are kept in {}",
                    options_.slower_than, shown(ws_.kept())));
    const auto start = Clock::now();
    auto reported = start;
    const auto goes_on = [&] {
      return runs_ && !interrupt::requested() &&
             (options_.seconds == 0 || seconds_since(start) < options_.seconds);
    };
    while (goes_on()) {
      auto recorded = choose_pace().and_then(
          [&] { return slices_ ? record_slice(goes_on) : record_window(goes_on); });
      if (goes_on() && recorded && seconds_since(reported) >= kBetweenReports) {
        const double budget = session_.config.overhead_budget;
        recorded = slices_ ? in_no_hurry(budget, [&] { return write_report(); }) : write_report();
        reported = Clock::now();
      }
      if (!interrupt::requested()) {
        VPROF_TRY(wait_for_room(recorded));
      }
      if (const auto swept = ended_.sweep(seconds_since(start)); !swept) {
        warn(swept.error().message);
      }
    }
    interrupt::forget();  // Ctrl-C ends the watch, and not what follows
    if (counted_ == 0) {
      return fail(ErrorKind::kNoInterval, "{}", why_none_counted());
    }
    const double part = part_of_watch(counted_s_);
    say(fmt::format(
        "watched for {:.0f} s{}; {}", seconds_since(start),
        part < 1 ? fmt::format(", and counted the intervals of {:.2g} % of it", 100 * part) : "",
        run_.own.text()));
    pause();
    return with_whole_budget(session_.config.overhead_budget, [&] { return write_report(); });
  }

 private:
  /// Measures what the user has named or the search has expanded; without either, the calls of the
  /// intervals.
  Result<void> begin() {
    const auto named = VPROF_TRY(keys_to_expand(run_.armed.program, options_.expand));
    warn_of(names_without_sites(run_.armed, named));
    VPROF_TRY(restart_if_needed(session_, !named.empty()));
    if (state_.iteration == 0) {
      VPROF_TRY(next_iteration(session_, run_.armed.program,
                               named.empty() ? run_.armed.targets.roots : named));
    }
    return {};
  }

  /// What the user has named is measured, whatever it costs.
  bool has_census() const { return options_.expand.empty(); }

  /// The sites of the frontier are measured from now on, whenever anything is recorded.
  Result<void> choose_sites() {
    const auto frontier = VPROF_TRY(move_frontier(session_, run_.armed));
    state_.history.back().sites = frontier.sites;
    sites_ = frontier.on;
    VPROF_TRY(windows_.restart(sites_json()));
    return session_.save();
  }

  Result<void> switch_on() {
    VPROF_TRY(choose_sites());
    switch_sites();
    return {};
  }

  /// There are slices until it is known what recording costs.
  Result<void> prepare_slices() {
    slices_ = true;
    const auto choose = [&] { return choose_sites(); };
    const bool disturbs = run_.target != nullptr;  // a program that runs
    return disturbs ? with_whole_budget(session_.config.overhead_budget, choose) : choose();
  }

  void switch_sites() {
    interruptions_ = run_.frontier->interruptions();
    alternation_.on();
    run_.frontier->switch_to(sites_);
    on_since_ = monotonic_ns();
    pass(pace_.settling());
    from_ = monotonic_ns();
    note_work();
    tables_.restart(on_since_, from_, sites_json(), factors_.interval);
  }

  void pause() {
    run_.frontier->pause();
    alternation_.off();
  }

  /// Leaves out what costs more than the budget, before anything counts.
  Result<void> census() {
    for (int round = 0; round < kMostThinnings; ++round) {
      VPROF_TRY(switch_on());
      if (!pass(kWindowLength)) {
        return {};
      }
      const int64_t begin = from_;
      const auto window = VPROF_TRY(read_window(monotonic_ns()));
      from_ = begin;
      if (!window.profile) {
        return {};  // nothing ends yet
      }
      const bool thinned = VPROF_TRY(
          thin_at_once(session_, *window.profile,
                       {.trace = ws_.window(), .sites_json = sites_json(), .options = factors_}));
      if (!thinned) {
        learn(window, {.length = kWindowLength});
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
      if (seconds_since(noted_) >= kNotePeriod) {
        note_work();
      }
    }
    return runs_ && !interrupt::requested();
  }

  void note_work() {
    noted_ = Clock::now();
    const Work work = since_noted_.step();
    work_.note(work.to, work.processor_ns);
  }

  double processor_ns(int64_t from, int64_t to) {
    note_work();
    work_.forget_before(from);
    return work_.between(from, to);
  }

  /// Pauses between slices, or records all the time, as what it costs demands.
  Result<void> choose_pace() {
    const bool tried = tries_ && !pace_.tries();
    if (slices_ == pace_.slices() && !tried) {
      return {};
    }
    tries_ = pace_.tries();
    slices_ = pace_.slices();
    if (!slices_) {
      say("recording goes on all the time");
      switch_sites();
      return {};
    }
    VPROF_TRY(tables_.reach(from_, true));
    pause();
    say(why_slices());
    return {};
  }

  std::string why_slices() const {
    const std::string what =
        "; so vprof records now and then, and misses slow intervals in between";
    if (pace_.is_beyond_budget()) {
      const double budget = session_.config.overhead_budget;
      return fmt::format("to record all the time costs {:.1f} %, {} the budget of {:g} %{}",
                         100 * pace_.cost(), pace_.cost() > budget ? "beyond" : "too close to",
                         100 * budget, what);
    }
    if (!pace_.is_behind() && is_full(run_.trace)) {
      return fmt::format("the disk of {} is full, so the program cannot record everything{}",
                         shown(run_.trace), what);
    }
    return (pace_.is_behind() ? "the program records faster than vprof can read"
                              : "the rings of the program, VPROF_RING_MB, hold too little") +
           what;
  }

  /// What ends within the next second, if nothing is recorded in slices.
  Result<void> record_window(const std::function<bool()>& goes_on) {
    pass(kWindowLength);
    const int64_t to = monotonic_ns() - (runs_ ? kLagNs : 0);
    if (to > from_) {
      const int64_t begin = from_;
      const auto started = Clock::now();
      const auto window = VPROF_TRY(read_window(to));
      if (VPROF_TRY(was_interrupted(begin))) {
        return {};
      }
      const double missing = seconds_between(begin, std::max(begin, window.complete_since));
      learn(window, {.length = seconds_between(begin, to),
                     .missing = missing,
                     .held = seconds_between(window.complete_since, monotonic_ns()),
                     .reading = seconds_since(started)});
      counted_s_ += std::max(0.0, seconds_between(begin, to) - missing);
      on_s_ += seconds_between(begin, to);
      watched_to_ = to;
      VPROF_TRY(take(window));
    }
    return tables_.reach(to, !goes_on());
  }

  /// What begins in a part of the next second.
  Result<void> record_slice(const std::function<bool()>& goes_on) {
    switch_sites();
    pass(pace_.length());
    factors_.epoch = {.from = from_, .to = monotonic_ns(), .recorded_since = on_since_};
    WatchPace::Piece piece{.length = seconds_between(from_, factors_.epoch.to),
                           .waited = std::min(pace_.waiting(), patience()),
                           .patience = patience()};
    pass(piece.waited);
    factors_.epoch.until = monotonic_ns();
    if (VPROF_TRY(was_interrupted(from_))) {
      return {};
    }
    pause();  // reading takes long where nothing is idle
    const int64_t end = monotonic_ns();
    factors_.epoch.processor_ns = processor_ns(from_, factors_.epoch.until);
    const double before = own_processor_s();
    const auto window = VPROF_TRY(in_no_hurry(session_.config.overhead_budget,
                                              [&] { return windows_.read(factors_, on_since_); }));
    piece.reading = own_processor_s() - before;
    if (window.complete_since > from_) {
      piece.missing = seconds_between(from_, window.complete_since);
      piece.held = seconds_between(window.complete_since, factors_.epoch.until);
      factors_.epoch.from = window.complete_since;
    }
    alternation_.learn(window.slice.overhead, cost_factor_);
    learn(window, piece);
    counted_s_ += std::max(0.0, piece.length - piece.missing);
    on_s_ += seconds_between(on_since_, end);
    VPROF_TRY(in_no_hurry(session_.config.overhead_budget, [&] {
      return tables_.write_slice(factors_.epoch).and_then([&] { return take(window); });
    }));
    const double on = seconds_between(on_since_, end);
    const double pause = pace_.pause_after(on);
    if (on < pause - seconds_between(end, monotonic_ns())) {
      run_.frontier->count();
      alternation_.count();
      pass(on);
      alternation_.counted();
      run_.frontier->pause();
    }
    while (goes_on() && seconds_between(end, monotonic_ns()) < pause) {
      pass(std::min(kWindowLength, pause - seconds_between(end, monotonic_ns())));
    }
    watched_to_ = monotonic_ns();
    return {};
  }

  std::string why_none_counted() const {
    return has_looked_ ? why_nothing(run_.trace, session_)
                       : "the watch ended before it had counted anything, which it does a few "
                         "seconds after its begin; there is no report";
  }

  double patience() const {
    const double bound = slow_.bound_ns(so_far_) / 1e9;
    return std::isfinite(bound) ? std::clamp(2 * bound, kLeastPatience, kMostPatience)
                                : kLeastPatience;
  }

  void learn(const WatchWindow& window, WatchPace::Piece piece) {
    analyzer::Slice slice = window.slice;
    slice.overhead.cost_factor = cost_factor_.cautious();
    if (!slices_) {
      slice.incomplete = 0;  // the next window has it
    }
    piece.own = own_.step();
    pace_.learn(slice, piece);
  }

  /// The sites were switched off meanwhile, and are on again.
  Result<bool> was_interrupted(int64_t begin) {
    if (run_.frontier->interruptions() == interruptions_) {
      return false;
    }
    warn(
        "the program has switched its sites off, as if vprof had been stopped, or without a "
        "processor, for two seconds; the intervals of this time are left out");
    VPROF_TRY(tables_.reach(begin, true));
    switch_sites();
    return true;
  }

  /// A full disk is emptied sooner or later, and a watch goes on for days.
  Result<void> wait_for_room(const Result<void>& recorded) {
    const bool no_room = !recorded && recorded.error().kind == ErrorKind::kDiskFull;
    if (!recorded && !no_room) {
      return recorded;
    }
    if (no_room && !waits_for_room_) {
      warn(recorded.error().message + "; the watch goes on when there is room again");
    } else if (!no_room && waits_for_room_) {
      say("there is room again");
    }
    waits_for_room_ = no_room;
    if (no_room) {
      pause();
      pass(kWindowLength);
      switch_sites();
      watched_to_ = from_;
    }
    return {};
  }

  /// The window from the last one to `to`, which becomes the last one.
  Result<WatchWindow> read_window(int64_t to) {
    factors_.epoch = {.from = from_, .to = to, .by_end = true, .recorded_since = on_since_};
    // An interval that began earlier has not passed the same sites as the others.
    factors_.epoch.processor_ns = processor_ns(from_, to);
    const int64_t since = from_ - kReachBackNs;
    from_ = to;
    auto window = VPROF_TRY(windows_.read(factors_, since));
    if (window.slice.incomplete == 0) {
      return window;
    }
    return windows_.read(factors_, INT64_MIN);  // those have begun earlier
  }

  Result<void> take(const WatchWindow& window) {
    windows_.count();
    has_looked_ = true;
    counted_ += window.slice.count;
    if (!window.profile) {
      return {};
    }
    if (counted_ >= 2 * so_far_.interval.count) {  // while percentiles are still vague
      VPROF_TRY(add_up());
    }
    return slow_.look(*window.profile, so_far_, sites_json());
  }

  Result<void> add_up() {
    if (counted_ != 0) {
      so_far_ = VPROF_TRY(windows_.so_far(factors_));
    }
    return {};
  }

  double part_of_watch(double seconds) const {
    const double part = seconds / std::max(1e-9, seconds_between(watch_from_, watched_to_));
    return part < kAllButMoments ? part : 1;
  }

  Result<void> write_report() {
    if (counted_ == 0) {
      return {};
    }
    VPROF_TRY(add_up());
    cost_factor_.apply(so_far_.overhead);
    compare_with(state_.baseline, so_far_);
    so_far_.overhead.recorded_part = part_of_watch(on_s_);
    VPROF_TRY(write_metrics(session_, options_.metrics, so_far_, start_s_, slow_.count(),
                            part_of_watch(counted_s_)));
    return write_watched(session_, so_far_);
  }

  Session& session_;
  State& state_;
  const Workspace& ws_;
  const WatchOptions& options_;
  SlowIntervals slow_;
  LiveRun& run_;
  analyzer::Options factors_;
  WatchWindows windows_;
  WatchPace pace_;
  Alternation alternation_{run_.trace};
  CostFactor cost_factor_;
  TableWindows tables_;
  EndedProcesses ended_;
  std::vector<uint32_t> sites_;  // that are on while anything is recorded
  ProcessorHistory work_;        // of the program
  WorkSince since_noted_{run_.trace};
  Clock::time_point noted_ = Clock::now();
  bool runs_ = true;            // the program
  bool slices_ = false;         // are recorded, with pauses
  bool tries_ = !has_census();  // what recording costs
  bool waits_for_room_ = false;
  int64_t on_since_ = 0;  // these sites
  int64_t from_ = 0;      // the windows so far end here, or the slice begins
  int64_t watch_from_ = 0, watched_to_ = 0;
  double counted_s_ = 0;  // between the two: intervals of these times are in the figures
  double on_s_ = 0;       // between the two: recording was on
  OwnWork own_;           // of vprof, since the last piece
  uint64_t interruptions_ = 0;
  const double start_s_ =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  bool has_looked_ = false;  // at a window
  uint64_t counted_ = 0;     // intervals
  Profile so_far_;
};

}  // namespace

Result<void> watch(Session& session, const WatchOptions& options) {
  const SlowBound bound = VPROF_TRY(SlowBound::parse(options.slower_than));
  VPROF_TRY(check_tables(options.tables));
  const auto configured = static_cast<uint64_t>(session.config.ring_mb);
  LiveRun run = VPROF_TRY(begin_live_run(session, options.attach));
  FlightRecorder recorder(session, options, bound, run);
  auto watched =
      recorder.prepare()
          .and_then([&] { return run.start(session, configured == 0 ? kRingMb : configured); })
          .and_then([&] { return recorder.record(); });
  run.leave();
  return watched;
}

}  // namespace vprof::driver
