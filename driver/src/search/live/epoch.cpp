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

}  // namespace

Epochs::Epochs(const Session& session, fs::path trace, FrontierFile& frontier, Target& target)
    : trace_(std::move(trace)),
      frontier_(frontier),
      target_(target),
      options_(session.config.factors),
      settle_s_(kLeastSettling) {}

bool Epochs::pass(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (runs_ && !interrupt::requested() && std::chrono::steady_clock::now() < end) {
    runs_ = target_.turn();
  }
  return runs_ && !interrupt::requested();
}

Result<std::optional<analyzer::Profile>> Epochs::look(const fs::path& sites_json, double patience) {
  std::optional<analyzer::Profile> profile;
  double waited = 0;
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
    } else if (analyzed.error().kind != ErrorKind::kNoInterval && goes_on) {
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
  if (!pass(settle_s_)) {
    return profile;
  }
  options_.epoch = {};
  options_.epoch.from = monotonic_ns();
  const ProcessorTime before(trace_);
  double passed = 0;
  for (double next = length.least; passed < length.most; next = std::min(2 * next, length.most)) {
    const bool goes_on = pass(next - passed);
    passed = next;
    options_.epoch.to = monotonic_ns();
    options_.epoch.processor_ns = before.since_then_ns();
    profile = VPROF_TRY(look(sites_json, length.patience()));
    if (disturbed_ || !goes_on || (profile && enough(*profile))) {
      break;
    }
  }
  frontier_.switch_to({});
  return profile;
}

}  // namespace vprof::driver
