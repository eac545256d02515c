#include "workspace/state.h"
#include "vprof/support/json.h"

#include <array>

namespace vprof::driver {

namespace {

using nlohmann::json;

constexpr std::array<const char*, 4> kSteps = {"measure", "analyze", "decide", "done"};

json to_json(const std::vector<Decided>& all) {
  json list = json::array();
  for (const Decided& one : all) {
    list.push_back({{"id", one.id}, {"name", one.name}});
  }
  return list;
}

std::vector<Decided> decided_from(const json& list) {
  std::vector<Decided> all;
  for (const json& one : list) {
    all.push_back({.id = one.at("id"), .name = one.at("name")});
  }
  return all;
}

json to_json(const report::Iteration& one) {
  json leading = json::array();
  for (const report::Leading& factor : one.leading) {
    leading.push_back({{"factor", factor.factor}, {"contribution", factor.contribution}});
  }
  return {{"expanded", one.expanded},     {"sites", one.sites},
          {"build_s", one.build_s},       {"run_s", one.run_s},
          {"mean_ns", one.mean_ns},       {"variance_ns2", one.variance_ns2},
          {"mean_ratio", one.mean_ratio}, {"variance_ratio", one.variance_ratio},
          {"selected", one.selected},     {"set_aside", one.set_aside},
          {"leading", leading},           {"demoted", one.demoted}};
}

report::Iteration iteration_from(const json& one) {
  std::vector<report::Leading> leading;
  for (const json& factor : one.at("leading")) {
    leading.push_back({.factor = factor.at("factor"), .contribution = factor.at("contribution")});
  }
  return {.expanded = one.at("expanded"),
          .sites = one.at("sites"),
          .build_s = one.at("build_s"),
          .run_s = one.at("run_s"),
          .mean_ns = one.at("mean_ns"),
          .variance_ns2 = one.at("variance_ns2"),
          .mean_ratio = one.at("mean_ratio"),
          .variance_ratio = one.at("variance_ratio"),
          .selected = one.at("selected"),
          .set_aside = one.at("set_aside"),
          .leading = std::move(leading),
          .demoted = one.at("demoted")};
}

json to_json(const std::vector<report::Demoted>& all) {
  json list = json::array();
  for (const report::Demoted& one : all) {
    list.push_back({{"function", one.function},
                    {"site", one.site},
                    {"calls", one.calls},
                    {"cost", one.cost},
                    {"since", one.since}});
  }
  return list;
}

std::vector<report::Demoted> demoted_from(const json& list) {
  std::vector<report::Demoted> all;
  for (const json& one : list) {
    all.push_back({.function = one.at("function"),
                   .site = one.at("site"),
                   .calls = one.at("calls"),
                   .cost = one.at("cost"),
                   .since = one.at("since")});
  }
  return all;
}

json baseline_to_json(const State& state) {
  const analyzer::IntervalSummary& baseline = state.baseline;
  return {{"iteration", state.baseline_iteration},
          {"count", baseline.count},
          {"mean_ns", baseline.mean_ns},
          {"mean_ci95", baseline.mean_ci95},
          {"p50_ns", baseline.p50_ns},
          {"variance_ns2", baseline.variance_ns2}};
}

void baseline_from(const json& from, State& state) {
  state.baseline_iteration = from.at("iteration");
  state.baseline.count = from.at("count");
  state.baseline.mean_ns = from.at("mean_ns");
  state.baseline.mean_ci95 = from.at("mean_ci95");
  state.baseline.p50_ns = from.at("p50_ns");
  state.baseline.variance_ns2 = from.at("variance_ns2");
}

State state_from(const json& document) {
  State state;
  state.iteration = document.at("iteration");
  const std::string step = document.at("step");
  for (size_t i = 0; i < kSteps.size(); ++i) {
    if (step == kSteps[i]) {
      state.step = static_cast<Step>(i);
    }
  }
  state.intervals = document.at("intervals");
  state.expanded = document.at("expanded").get<std::vector<std::string>>();
  state.selected = decided_from(document.at("selected"));
  state.set_aside = decided_from(document.at("set_aside"));
  for (const json& one : document.at("history")) {
    state.history.push_back(iteration_from(one));
  }
  baseline_from(document.at("baseline"), state);
  state.demoted = demoted_from(document.at("demoted"));
  state.configured = document.at("configured");
  state.built = document.at("built");
  return state;
}

}  // namespace

Result<State> load_state(const Workspace& workspace) { return load_state(workspace.state()); }

Result<State> load_state(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    return State{};
  }
  auto document = VPROF_TRY(read_json(file));
  try {
    return state_from(document);
  } catch (const json::exception&) {
    return fail("{} was not written by this version of vprof; delete it to begin anew",
                shown(file));
  }
}

Result<void> save_state(const fs::path& file, const State& state) {
  json history = json::array();
  for (const report::Iteration& one : state.history) {
    history.push_back(to_json(one));
  }
  const json document = {{"schema", 1},
                         {"iteration", state.iteration},
                         {"step", kSteps[static_cast<size_t>(state.step)]},
                         {"intervals", state.intervals},
                         {"expanded", state.expanded},
                         {"selected", to_json(state.selected)},
                         {"set_aside", to_json(state.set_aside)},
                         {"history", history},
                         {"baseline", baseline_to_json(state)},
                         {"demoted", to_json(state.demoted)},
                         {"configured", state.configured},
                         {"built", state.built}};
  return write_file_atomic(file, document.dump(1) + "\n");
}

void forget_overhead(State& state) {
  state.baseline = {};
  state.baseline_iteration = 0;
  state.demoted.clear();
}

State restarted(const State& state) {
  State fresh;
  fresh.configured = state.configured;
  fresh.built = state.built;
  return fresh;
}

}  // namespace vprof::driver
