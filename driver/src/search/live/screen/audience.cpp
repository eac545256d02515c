#include "search/live/screen/audience.h"

#include "search/live/screen/status.h"

namespace vprof::driver {

using report::LivePhase;

Audience::Audience(Session& session, const instrumenter::Program& program, fs::path trace,
                   Onlooker* onlooker)
    : session_(session),
      program_(program),
      trace_(std::move(trace)),
      onlooker_(onlooker),
      guidance_(session, program, onlooker),
      hooks_{
          .turn = [this] { return turn(); },
          .begin = [this](LivePhase phase, double passed,
                          double most) { begin(phase, passed, most); },
          .look = [this](const analyzer::Profile& profile,
                         double seconds) { see(profile, seconds); },
      } {
  const Config& config = session.config;
  status_.budget = config.overhead_budget;
  status_.interval = !config.factors.interval.empty() || config.intervals.empty()
                         ? config.factors.interval
                         : config.intervals[0].name;
}

void Audience::see_iteration(const std::string& purpose, size_t sites_on) {
  if (onlooker_ == nullptr) {
    return;
  }
  status_.iteration = session_.state.iteration;
  status_.purpose = purpose;
  status_.functions = session_.state.history.back().expanded;
  status_.sites_on = sites_on;
  status_.phase = LivePhase::kSwitching;
  show();
}

void Audience::see(const analyzer::Profile& measured, double seconds) {
  if (onlooker_ == nullptr) {
    return;
  }
  analyzer::Profile profile = measured;
  compare_with(session_.state.baseline, profile);
  const int iteration = session_.state.iteration;
  status_.interval = profile.interval.name;
  status_.figures = figures_of(profile, iteration, seconds);
  status_.figures.baseline = at_baseline_;
  if (!at_baseline_) {
    profile.bytes.clear();
    expandable_ = expandable(profile, program_, session_.state);
    measured_ = {.profile = std::make_shared<const analyzer::Profile>(std::move(profile)),
                 .trace = trace_,
                 .sites_json = session_.workspace.kept_sites(iteration)};
  }
  show();
}

Pace Audience::turn() {
  if (guidance_.take(measured_.profile.get())) {
    show();
  }
  return guidance_.pace();
}

void Audience::begin(LivePhase phase, double passed, double most) {
  status_.phase = phase;
  status_.phase_s = passed;
  status_.phase_most_s = most;
  if (phase != LivePhase::kWaiting) {
    at_baseline_ = phase == LivePhase::kBaseline;
    status_.epoch += passed == 0 ? 1 : 0;
  }
  show();
}

void Audience::show() {
  status_.elapsed_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (measured_.profile != nullptr) {
    status_.factors = factors_of(*measured_.profile, session_.state,
                                 {.expandable = expandable_, .next = guidance_.next()});
  }
  onlooker_->show(status_, measured_);
}

}  // namespace vprof::driver
