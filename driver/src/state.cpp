#include "state.h"

#include <array>

namespace vprof::driver {

namespace {

using nlohmann::json;

constexpr std::array<const char*, 4> kSteps = {"measure", "analyze", "decide", "done"};

json to_json(const std::vector<Decided>& all) {
  json list = json::array();
  for (const Decided& one : all) list.push_back({{"id", one.id}, {"name", one.name}});
  return list;
}

std::vector<Decided> decided_from(const json& list) {
  std::vector<Decided> all;
  for (const json& one : list) all.push_back({.id = one.at("id"), .name = one.at("name")});
  return all;
}

json to_json(const report::Iteration& one) {
  return {{"expanded", one.expanded}, {"sites", one.sites},     {"build_s", one.build_s},
          {"run_s", one.run_s},       {"mean_ns", one.mean_ns}, {"variance_ns2", one.variance_ns2}};
}

report::Iteration iteration_from(const json& one) {
  return {.expanded = one.at("expanded"),
          .sites = one.at("sites"),
          .build_s = one.at("build_s"),
          .run_s = one.at("run_s"),
          .mean_ns = one.at("mean_ns"),
          .variance_ns2 = one.at("variance_ns2")};
}

State state_from(const json& document) {
  State state;
  state.iteration = document.at("iteration");
  const std::string step = document.at("step");
  for (size_t i = 0; i < kSteps.size(); ++i) {
    if (step == kSteps[i]) state.step = static_cast<Step>(i);
  }
  state.intervals = document.at("intervals");
  state.expanded = document.at("expanded").get<std::vector<std::string>>();
  state.selected = decided_from(document.at("selected"));
  state.set_aside = decided_from(document.at("set_aside"));
  for (const json& one : document.at("history")) state.history.push_back(iteration_from(one));
  state.baseline_mean_ns = document.at("baseline_mean_ns");
  state.configured = document.at("configured");
  state.built = document.at("built");
  return state;
}

}  // namespace

Result<State> load_state(const Workspace& workspace) {
  std::error_code error;
  if (!fs::exists(workspace.state(), error)) return State{};
  auto document = read_json(workspace.state());
  if (!document) return tl::unexpected(document.error());
  try {
    return state_from(*document);
  } catch (const json::exception&) {
    return fail("{} was not written by this version of vprof; delete it to begin anew",
                shown(workspace.state()));
  }
}

Result<void> save_state(const Workspace& workspace, const State& state) {
  json history = json::array();
  for (const report::Iteration& one : state.history) history.push_back(to_json(one));
  const json document = {{"schema", 1},
                         {"iteration", state.iteration},
                         {"step", kSteps[static_cast<size_t>(state.step)]},
                         {"intervals", state.intervals},
                         {"expanded", state.expanded},
                         {"selected", to_json(state.selected)},
                         {"set_aside", to_json(state.set_aside)},
                         {"history", history},
                         {"baseline_mean_ns", state.baseline_mean_ns},
                         {"configured", state.configured},
                         {"built", state.built}};
  return write_file_atomic(workspace.state(), document.dump(1) + "\n");
}

State restarted(const State& state) {
  State fresh;
  fresh.configured = state.configured;
  fresh.built = state.built;
  return fresh;
}

}  // namespace vprof::driver
