#include "workloads/workloads.h"

#include <algorithm>

namespace smf {

namespace {

struct Named {
  std::string_view name;
  std::unique_ptr<Workload> (*make)();
};

// The five of the paper, and those of its figure 8: YCSB with little and with medium contention.
constexpr Named kWorkloads[] = {
    {"epinions", make_epinions},
    {"smallbank", make_smallbank},
    {"taobench", make_taobench},
    {"tpcc", [] { return make_tpcc(10); }},
    {"ycsb", [] { return make_ycsb(0.9, 0.05); }},
    {"ycsb-low", [] { return make_ycsb(0.1, 0.05); }},
    {"ycsb-low-writes", [] { return make_ycsb(0.1, 0.8); }},
    {"ycsb-medium", [] { return make_ycsb(0.5, 0.05); }},
    {"ycsb-medium-writes", [] { return make_ycsb(0.5, 0.8); }},
};

}  // namespace

bool Script::read_only() const {
  return std::ranges::none_of(operations,
                              [](auto& operation) { return operation.access == Access::kWrite; });
}

TracedTransaction Script::traced() const {
  TracedTransaction traced{type, hints, {}};
  for (const ScriptOperation& operation : operations) {
    traced.operations.push_back({operation.key, operation.access});
  }
  return traced;
}

std::vector<std::string_view> workload_names() {
  std::vector<std::string_view> names;
  for (const Named& named : kWorkloads) {
    names.push_back(named.name);
  }
  return names;
}

std::unique_ptr<Workload> make_workload(std::string_view name) {
  const auto* found = std::ranges::find(kWorkloads, name, &Named::name);
  return found == std::end(kWorkloads) ? nullptr : found->make();
}

std::vector<TracedTransaction> trace_of(const Workload& workload, size_t transactions,
                                        uint64_t seed) {
  Random random(seed);
  std::vector<TracedTransaction> trace;
  for (size_t i = 0; i < transactions; ++i) {
    trace.push_back(workload.next(random).traced());
  }
  return trace;
}

}  // namespace smf
