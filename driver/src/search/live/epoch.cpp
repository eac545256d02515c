#include "search/live/epoch.h"

#include <algorithm>
#include <chrono>

#include "process/interrupt.h"

namespace vprof::driver {

namespace {

/// Within this time all threads have seen that a site was switched, and what they were doing then
/// has ended, unless intervals take longer.
constexpr double kLeastSettling = 0.02;
constexpr double kMostSettling = 1;
/// Looks for somebody who looks on take at most this part of a processor.
constexpr double kMostLooking = 0.2;
constexpr double kBetweenLooks = 1;  // s, at least

double seconds_after(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

Epochs::Epochs(const Session& session, fs::path trace, FrontierFile& frontier, Target& target,
               const EpochHooks* hooks)
    : trace_(std::move(trace)),
      frontier_(frontier),
      target_(target),
      options_(session.config.factors),
      hooks_(hooks),
      settle_s_(kLeastSettling) {}

bool Epochs::pass(double seconds, const Looking* looking, bool can_be_cut) {
  const auto start = std::chrono::steady_clock::now();
  const auto is_cut = [&] { return can_be_cut && pace_ == Pace::kEndEpoch; };
  while (goes_on() && !interrupt::requested() && !is_cut() && seconds_after(start) < seconds) {
    runs_ = target_.turn();
    if (hooks_ == nullptr) {
      continue;
    }
    pace_ = hooks_->turn();
    if (looking != nullptr) {
      look_meanwhile(*looking, seconds - seconds_after(start));
    }
  }
  return goes_on() && !interrupt::requested();
}

void Epochs::look_meanwhile(const Looking& looking, double left) {
  const double pause = std::max(kBetweenLooks, look_s_ / kMostLooking);
  // The search must not wait for it. It takes longer each time.
  if (seconds_after(looked_) < pause || left < 2 * look_s_) {
    return;
  }
  looked_ = std::chrono::steady_clock::now();
  analyzer::Options so_far = options_;
  so_far.threads = 1;
  so_far.epoch.to = so_far.epoch.until = monotonic_ns();
  so_far.epoch.processor_ns = looking.processor.since_then_ns();
  const auto profile = analyzer::analyze(trace_.string(), looking.sites_json.string(), so_far);
  if (profile) {
    hooks_->look(*profile, static_cast<double>(so_far.epoch.to - so_far.epoch.from) / 1e9);
  }
  look_s_ = seconds_after(looked_);
}

void Epochs::begin(report::LivePhase phase, double passed, double most) {
  if (hooks_ != nullptr) {
    hooks_->begin(phase, passed, most);
  }
}

double Epochs::seconds() const {
  return static_cast<double>(options_.epoch.to - options_.epoch.from) / 1e9;
}

Result<std::optional<analyzer::Profile>> Epochs::look(const fs::path& sites_json, double patience) {
  std::optional<analyzer::Profile> profile;
  double waited = 0;
  begin(report::LivePhase::kWaiting, 0, 0);
  for (bool again = true; again;) {
    const double wait = std::max(settle_s_, waited);
    const bool goes_on = pass(wait);
    waited += wait;
    options_.epoch.until = monotonic_ns();
    disturbed_ = frontier_.interruptions() != interruptions_;
    if (disturbed_) {
      return std::nullopt;
    }
    auto analyzed = analyzer::analyze(trace_.string(), sites_json.string(), options_);
    if (analyzed) {
      profile = std::move(*analyzed);
      settle_s_ = std::clamp(2 * profile->interval.p99_ns / 1e9, kLeastSettling, kMostSettling);
    } else if (analyzed.error().kind != ErrorKind::kNoInterval && goes_on &&
               !recording_processes(trace_).empty()) {  // a workload may take a while to begin
      return tl::unexpected(analyzed.error());
    }
    again = goes_on && waited < patience && !(profile && profile->interval.incomplete == 0);
  }
  return profile;
}

Result<std::optional<analyzer::Profile>> Epochs::measure(
    const std::vector<uint32_t>& sites, const fs::path& sites_json, const EpochLength& length,
    const std::function<bool(const analyzer::Profile&)>& enough) {
  std::optional<analyzer::Profile> profile;
  interruptions_ = frontier_.interruptions();
  disturbed_ = false;
  frontier_.switch_to(sites);
  begin(length.phase, 0, length.most);
  if (!pass(settle_s_)) {
    return profile;
  }
  options_.epoch = {};
  options_.epoch.from = monotonic_ns();
  const ProcessorTime before(trace_);
  const Looking looking{sites_json, before};
  looked_ = std::chrono::steady_clock::now();
  double passed = 0;
  for (double next = length.least; passed < length.most; next = std::min(2 * next, length.most)) {
    const bool can_be_cut = length.can_be_cut && profile.has_value();
    begin(length.phase, static_cast<double>(monotonic_ns() - options_.epoch.from) / 1e9,
          length.most);
    const bool goes_on = pass(next - passed, &looking, can_be_cut);
    passed = next;
    options_.epoch.to = monotonic_ns();
    options_.epoch.processor_ns = before.since_then_ns();
    profile = VPROF_TRY(look(sites_json, length.patience()));
    if (profile && hooks_ != nullptr && length.phase != report::LivePhase::kCensus) {
      hooks_->look(*profile, seconds());
      looked_ = std::chrono::steady_clock::now();
    }
    const bool is_cut = length.can_be_cut && profile && pace_ == Pace::kEndEpoch;
    if (disturbed_ || !goes_on || is_cut || (profile && enough(*profile))) {
      break;
    }
  }
  frontier_.switch_to({});
  return profile;
}

}  // namespace vprof::driver
