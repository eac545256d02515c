#include "rewrite/interval_graph.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace vprof::instrumenter {
namespace {

/// The functions where intervals begin, end or are switched to.
std::vector<const Function*> interval_roots(const Program& program, const Plan& plan) {
  std::vector<const Function*> roots;
  const auto add = [&](const std::string& name) {
    for (const Function* f : program.find(name)) {
      roots.push_back(f);
    }
  };
  for (const IntervalPlan& interval : plan.intervals) {
    if (!interval.function.empty()) {
      add(interval.function);
    }
    for (const std::vector<IntervalPoint>* points :
         {&interval.begin, &interval.end, &interval.switches}) {
      for (const IntervalPoint& point : *points) {
        add(point.function);
      }
    }
  }
  for (const Function& f : program.functions) {
    for (const Call& call : f.calls) {
      if (call.callee_name == "vprof_begin" || call.callee_name == "vprof_switch" ||
          call.callee_name == "vprof_end") {
        roots.push_back(&f);
      }
    }
  }
  return roots;
}

/// The keys of the functions that reach one of `roots`, by calling, passing on or starting a
/// thread, without the roots themselves.
std::set<std::string> functions_above(const Program& program,
                                      const std::vector<const Function*>& roots) {
  std::unordered_map<std::string, std::vector<const Function*>> reached_from;
  for (const Function& f : program.functions) {
    for (const std::string& target : f.targets) {
      reached_from[target].push_back(&f);
    }
  }
  std::set<std::string> seen;
  for (const Function* root : roots) {
    seen.insert(root->key);
  }
  std::set<std::string> above;
  std::vector<const Function*> open = roots;
  while (!open.empty()) {
    const Function* f = open.back();
    open.pop_back();
    std::vector<const Function*> next = program.callers(*f);
    const std::vector<const Function*>& through = reached_from[f->key];
    next.insert(next.end(), through.begin(), through.end());
    for (const Function* caller : next) {
      if (seen.insert(caller->key).second) {
        above.insert(caller->key);
        open.push_back(caller);
      }
    }
  }
  return above;
}

}  // namespace

IntervalGraph interval_graph(const Program& program, const Plan& plan) {
  const std::vector<const Function*> roots = interval_roots(program, plan);
  IntervalGraph graph{1, functions_above(program, roots)};
  for (const Function* f : roots) {
    graph.height = std::max(graph.height, f->height);
  }
  for (const std::string& key : plan.expanded) {
    const Function* f = program.by_key(key);
    if (f != nullptr && graph.above.count(key) == 0) {
      graph.height = std::max(graph.height, f->height);
    }
  }
  return graph;
}

}  // namespace vprof::instrumenter
