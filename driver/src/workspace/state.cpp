#include "workspace/state.h"

#include <algorithm>

#include "vprof/report/json.h"
#include "vprof/support/json.h"
#include "vprof/support/json_fields.h"

namespace vprof::json {

using driver::Baseline;
using driver::DecidedFactor;
using driver::State;

template <>
struct Words<driver::Step> {
  static constexpr std::array kWords = {"measure", "analyze", "decide", "done"};
};

template <>
struct Object<DecidedFactor> {
  static constexpr auto kFields =
      std::tuple{required("id", &DecidedFactor::id), required("name", &DecidedFactor::name)};
};

template <>
struct Object<Baseline> {
  static constexpr auto kFields = std::tuple{required("iteration", &Baseline::iteration),
                                             required("count", &Baseline::count),
                                             required("mean_ns", &Baseline::mean_ns),
                                             required("mean_ci95", &Baseline::mean_ci95),
                                             required("p50_ns", &Baseline::p50_ns),
                                             required("variance_ns2", &Baseline::variance_ns2),
                                             optional("run_s", &Baseline::run_s),
                                             optional("command", &Baseline::command)};
};

template <>
struct Object<State> {
  static constexpr auto kFields = std::tuple{
      required("iteration", &State::iteration), required("step", &State::step),
      required("intervals", &State::intervals), required("expanded", &State::expanded),
      required("selected", &State::selected),   required("set_aside", &State::set_aside),
      required("history", &State::history),     required("baseline", &State::baseline),
      required("demoted", &State::demoted),     required("configured", &State::configured),
      required("built", &State::built)};

  static void written(const State& /*state*/, Json& to) { to["schema"] = 1; }
};

}  // namespace vprof::json

namespace vprof::driver {

analyzer::IntervalSummary Baseline::latencies() const {
  analyzer::IntervalSummary summary;
  summary.count = count;
  summary.mean_ns = mean_ns;
  summary.mean_ci95 = mean_ci95;
  summary.p50_ns = p50_ns;
  summary.variance_ns2 = variance_ns2;
  return summary;
}

Baseline baseline_of(const analyzer::IntervalSummary& latencies, int iteration) {
  return {.iteration = iteration,
          .count = latencies.count,
          .mean_ns = latencies.mean_ns,
          .mean_ci95 = latencies.mean_ci95,
          .p50_ns = latencies.p50_ns,
          .variance_ns2 = latencies.variance_ns2,
          .run_s = 0,
          .command = ""};
}

Result<State> load_state(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    return State{};
  }
  auto state = vprof::json::read<State>(VPROF_TRY(read_json(file)));
  if (!state) {
    return fail("{}: {}; this version of vprof did not write it: delete it to start over",
                shown(file), state.error().message);
  }
  return state;
}

Result<void> save_state(const fs::path& file, const State& state) {
  return write_file_atomic(file, json_text(vprof::json::write(state)) + "\n");
}

std::vector<std::string> expand(State& state, const std::vector<std::string>& keys) {
  std::vector<std::string> added;
  for (const std::string& key : keys) {
    if (std::ranges::find(state.expanded, key) == state.expanded.end()) {
      state.expanded.push_back(key);
      added.push_back(key);
    }
  }
  return added;
}

void forget_overhead(State& state) {
  state.baseline = {};
  state.demoted.clear();
}

State restarted(const State& state) {
  State fresh;
  fresh.configured = state.configured;
  fresh.built = state.built;
  return fresh;
}

void mark_decisions(analyzer::Profile& profile, const State& state) {
  for (analyzer::Factor& factor : profile.factors) {
    if (contains(state.selected, factor)) {
      factor.status = analyzer::FactorStatus::kSelected;
    }
    if (contains(state.set_aside, factor)) {
      factor.status = analyzer::FactorStatus::kSetAside;
    }
  }
}

}  // namespace vprof::driver
