#include "workspace/state.h"

#include <algorithm>

#include "vprof/analyzer/overhead.h"
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
      std::tuple{required("id", &DecidedFactor::id), required("name", &DecidedFactor::name),
                 optional("by_user", &DecidedFactor::by_user)};
};

template <>
struct Object<Baseline> {
  static constexpr auto kFields = std::tuple{required("iteration", &Baseline::iteration),
                                             required("count", &Baseline::count),
                                             required("mean_ns", &Baseline::mean_ns),
                                             required("mean_ci95", &Baseline::mean_ci95),
                                             required("p50_ns", &Baseline::p50_ns),
                                             required("variance_ns2", &Baseline::variance_ns2),
                                             optional("processor_ns", &Baseline::processor_ns),
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
      required("built", &State::built),         optional("place", &State::place)};

  static void written(const State& /*state*/, Json& to) { to["schema"] = 1; }
};

}  // namespace vprof::json

namespace vprof::driver {

Baseline baseline_of(const analyzer::Profile& profile, int iteration) {
  const analyzer::IntervalSummary& latencies = profile.interval;
  const auto count = static_cast<double>(latencies.count);
  return {.iteration = iteration,
          .count = latencies.count,
          .mean_ns = latencies.mean_ns,
          .mean_ci95 = latencies.mean_ci95,
          .p50_ns = latencies.p50_ns,
          .variance_ns2 = latencies.variance_ns2,
          .processor_ns = count > 0 ? profile.overhead.process_ns / count : 0,
          .run_s = 0,
          .command = ""};
}

void compare_with(const Baseline& baseline, analyzer::Profile& profile) {
  analyzer::IntervalSummary latencies;
  latencies.count = baseline.count;
  latencies.mean_ns = baseline.mean_ns;
  latencies.mean_ci95 = baseline.mean_ci95;
  latencies.p50_ns = baseline.p50_ns;
  latencies.variance_ns2 = baseline.variance_ns2;
  analyzer::compare_with_baseline(profile.interval, latencies, baseline.processor_ns,
                                  profile.overhead);
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
  fresh.place = state.place;
  fresh.built = state.built;
  return fresh;
}

bool is_settled(const State& state, const std::string& key) {
  const auto too_many = [&](const report::Demoted& one) {
    return !one.heavy_in.empty() && one.key == key;
  };
  return std::ranges::find(state.expanded, key) != state.expanded.end() ||
         std::ranges::any_of(state.demoted, too_many);
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
