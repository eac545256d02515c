#include "search/live/epoch.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "pipeline/own_use/low_priority.h"
#include "pipeline/recordings/slices.h"
#include "process/interrupt.h"
#include "vprof/analyzer/overhead.h"

namespace vprof::driver {

namespace {

using analyzer::Profile;
using analyzer::Slice;

/// What waits for less than this need not look what the program does.
constexpr double kShortTime = 0.02;
/// Slices that follow each other directly are so far apart: the relation of clocks may still move a
/// little, and no interval may be in two of them.
constexpr int64_t kBetweenSlices = 1'000'000;  // ns
/// Looks for somebody who looks on take at most this part of a processor.
constexpr double kMostLooking = 0.2;
constexpr double kBetweenLooks = 1;  // s, at least
/// An epoch of ten seconds should have a few slices, whatever vprof's own work takes. s
constexpr double kLongestPause = 1;
/// A moment in which it is tried what recording costs is no pause.
constexpr double kNearlyAll = 0.95;
/// Intervals that tell what the sites cost.
constexpr uint64_t kEnoughForCensus = 100;

using Clock = std::chrono::steady_clock;

double seconds_after(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

}  // namespace

Epochs::Epochs(const Session& session, fs::path trace, FrontierFile& frontier, Target& target,
               const EpochHooks* hooks)
    : trace_(std::move(trace)),
      frontier_(frontier),
      target_(target),
      options_(session.config.factors),
      hooks_(hooks),
      budget_(session.config.overhead_budget),
      slicing_(
          {.budget = budget_, .processors = processors_in(1), .longest_pause = kLongestPause}) {
  begin_slices(trace_);
}

bool Epochs::pass(double seconds, analyzer::EpochSums* looking, bool can_be_cut) {
  const auto start = Clock::now();
  const auto is_cut = [&] { return can_be_cut && pace_ == Pace::kEndEpoch; };
  double left = seconds;
  for (; goes_on() && !interrupt::requested() && !is_cut() && left > kShortTime;
       left = seconds - seconds_after(start)) {
    runs_ = target_.turn();
    if (hooks_ == nullptr) {
      continue;
    }
    pace_ = hooks_->turn();
    if (looking != nullptr) {
      look_meanwhile(*looking, seconds - seconds_after(start));
    }
  }
  if (left > 0 && left <= kShortTime) {
    std::this_thread::sleep_for(std::chrono::duration<double>(left));
  }
  return goes_on() && !interrupt::requested();
}

void Epochs::look_meanwhile(analyzer::EpochSums& sums, double left) {
  const double pause = std::max(kBetweenLooks, look_s_ / kMostLooking);
  // The search must not wait for it. It takes longer each time.
  if (seconds_after(looked_) < pause || left < 2 * look_s_) {
    return;
  }
  looked_ = Clock::now();
  options_.epoch.to = options_.epoch.until = monotonic_ns();
  options_.epoch.processor_ns = processor_ns();
  auto profile = at_low_priority(budget_, [&] {
    return sums.look(options_).and_then([&](const Slice&) { return sums.profile(options_); });
  });
  if (profile) {
    cost_factor_.apply(profile->overhead);
    const analyzer::Epoch& so_far = options_.epoch;
    note_slice(trace_, so_far, analyzer::program_cost(profile->overhead), from_);
    hooks_->look(*profile, measured_s_ + seconds_between(so_far.from, so_far.to));
  }
  look_s_ = seconds_after(looked_);
}

/// Of the program in the slice so far. If reading its counters was held up, they are of a longer or
/// shorter time than that.
double Epochs::processor_ns() const {
  const Work work = work_.done();
  const double slice_s = seconds_between(options_.epoch.from, options_.epoch.until);
  const double passed_s = seconds_between(work.from, work.to);
  return passed_s > 0 ? work.processor_ns * slice_s / passed_s : work.processor_ns;
}

void Epochs::begin(report::LivePhase phase, double passed, double most) {
  if (hooks_ != nullptr) {
    hooks_->begin(phase, passed, most);
  }
}

analyzer::Options Epochs::options() const {
  analyzer::Options all = options_;
  all.epoch.from = all.epoch.recorded_since = from_;
  return all;
}

/// The slice that follows begins.
void Epochs::begin_slice() {
  if (!recording_) {
    alternation_.on();
    frontier_.switch_to(sites_);
    recording_ = true;
    options_.epoch = {.recorded_since = monotonic_ns()};
    from_ = from_ == 0 ? options_.epoch.recorded_since : from_;
    pass(slicing_.settling());
    options_.epoch.from = monotonic_ns();
    work_ = WorkSince(trace_);
  } else if (!is_open_) {
    options_.epoch.from = options_.epoch.to + kBetweenSlices;
    work_ = after_;
  }
}

void Epochs::pause() {
  frontier_.pause();
  if (recording_) {
    alternation_.off();
  }
  recording_ = is_open_ = false;
}

void Epochs::rest(double seconds, double counted, bool can_be_cut) {
  if (counted < seconds) {
    frontier_.count();
    alternation_.count();
    pass(counted, nullptr, can_be_cut);
    alternation_.counted();
    frontier_.pause();
    seconds -= counted;
  }
  pass(seconds, nullptr, can_be_cut);
}

Result<Slice> Epochs::look(analyzer::EpochSums& sums) {
  auto slice = at_low_priority(budget_, [&] { return sums.look(options_); });
  // A workload may take a while to begin.
  if (!slice && (!runs_ || recording_processes(trace_).empty())) {
    return Slice();
  }
  return slice;
}

/// @param until_look, until_end s
double Epochs::slice_length(double until_look, double until_end) const {
  if (!slicing_.pauses()) {
    return std::max(until_look, kShortTime);
  }
  return std::min(slicing_.length(), std::max(until_end, 2 * slicing_.settling()));
}

void Epochs::see(const Profile& profile, const EpochLength& length) {
  if (hooks_ != nullptr && length.phase != report::LivePhase::kCensus) {
    hooks_->look(profile, seconds());
    looked_ = Clock::now();
  }
}

Result<Slice> Epochs::measure_slice(analyzer::EpochSums& sums, double seconds,
                                    const EpochLength& length, bool can_be_cut) {
  const bool is_trial = !slicing_.knows_cost();
  const bool pauses = slicing_.pauses();
  begin_slice();
  bool goes_on = pass(seconds, pauses ? nullptr : &sums, can_be_cut);
  options_.epoch.to = monotonic_ns();
  after_ = WorkSince(trace_);
  begin(report::LivePhase::kWaiting, 0, 0);
  Slice slice;
  double waited = 0;
  double reading = 0;
  for (bool again = true; again;) {
    const double wait = std::max(slicing_.waiting(), waited);
    goes_on = pass(wait) && goes_on;
    waited += wait;
    options_.epoch.until = monotonic_ns();
    disturbed_ = frontier_.interruptions() != interruptions_;
    if (disturbed_) {
      return Slice();
    }
    if (pauses) {
      pause();
    }
    options_.epoch.processor_ns = processor_ns();
    const auto started = Clock::now();
    slice = VPROF_TRY(look(sums));
    reading = seconds_after(started);
    if (pauses) {
      alternation_.learn(slice.overhead, cost_factor_);
    }
    again = goes_on && !pauses && slice.incomplete != 0 && waited < length.patience();
  }
  cost_factor_.apply(slice.overhead);
  note_slice(trace_, options_.epoch, analyzer::program_cost(slice.overhead), is_trial ? 0 : from_);
  const double slice_s = seconds_between(options_.epoch.from, options_.epoch.to);
  Slice at_most = slice;
  at_most.overhead.cost_factor = cost_factor_.cautious();
  slicing_.learn(at_most, {slice_s, waited, length.patience(), reading, own_.step()});
  if (recording_ && slicing_.pauses()) {
    pause();  // what was recorded while the slice was read is left out
  }
  is_open_ = recording_ && slice.incomplete != 0;
  if (!is_trial && !is_open_) {
    sums.close();
    ++slices_;
    intervals_ += slice.count;
    measured_s_ += slice_s;
  }
  open_s_ = is_trial || is_open_ ? slice_s : 0;
  return slice;
}

Result<std::optional<Profile>> Epochs::measure(
    const std::vector<uint32_t>& sites, const fs::path& sites_json, const EpochLength& length,
    const std::function<Verdict(const Profile&)>& judge) {
  auto sums = VPROF_TRY(analyzer::EpochSums::begin(trace_.string(), sites_json.string()));
  if (sites != sites_) {
    slicing_.forget_cost();
    sites_ = sites;
  }
  interruptions_ = frontier_.interruptions();
  disturbed_ = false;
  from_ = 0;
  measured_s_ = open_s_ = on_s_ = 0;
  slices_ = 0;
  intervals_ = 0;
  std::optional<Profile> profile;
  Verdict verdict = Verdict::kGoOn;
  auto start = looked_ = Clock::now();
  double next = length.least;
  const auto end = [&] {
    const bool pauses = slicing_.knows_cost() && slicing_.pauses();
    return length.end(pauses ? std::max(slices_, 1) : 0, intervals_, verdict);
  };
  for (bool over = false; !over;) {
    const double passed = seconds_after(start);
    begin(length.phase, passed, end());
    const bool can_be_cut = length.can_be_cut && profile.has_value();
    const bool was_known = slicing_.knows_cost();
    const int64_t on_since = recording_ ? options_.epoch.to : monotonic_ns();
    const auto slice =
        measure_slice(sums, slice_length(next - passed, end() - passed), length, can_be_cut);
    if (!slice || disturbed_) {
      pause();
      return slice ? Result<std::optional<Profile>>(std::nullopt) : tl::unexpected(slice.error());
    }
    const bool was_trial = !was_known && slicing_.knows_cost();
    if (was_trial) {  // the epoch begins with what follows
      start = Clock::now();
      on_s_ = 0;
    }
    const auto is_cut = [&] { return length.can_be_cut && profile && pace_ == Pace::kEndEpoch; };
    const auto ends = [&] {
      return !goes_on() || interrupt::requested() || is_cut() || seconds_after(start) >= end() ||
             (was_trial && length.phase == report::LivePhase::kCensus &&
              slice->count >= kEnoughForCensus);
    };
    const double on = seconds_between(on_since, options_.epoch.until);
    on_s_ += was_trial ? 0 : on;
    over = ends();
    if (over || seconds_after(start) >= next) {
      if (auto found = at_low_priority(budget_, [&] { return sums.profile(options_); })) {
        profile = std::move(*found);
        cost_factor_.apply(profile->overhead);
        const double part =
            was_trial ? on / (on + slicing_.pause_after(on)) : on_s_ / seconds_after(start);
        profile->overhead.recorded_part = part < kNearlyAll ? part : 1;
        see(*profile, length);
        verdict = judge(*profile);
        over = ends() || verdict == Verdict::kEnough;
      }
      next = std::min(2 * next, end());
    }
    if (!over && !recording_) {
      const double paused = seconds_between(options_.epoch.until, monotonic_ns());
      rest(std::min(slicing_.pause_after(on) - paused, end() - seconds_after(start)), on,
           can_be_cut);
    }
  }
  pause();
  return interrupt::requested() ? std::nullopt : profile;
}

}  // namespace vprof::driver
