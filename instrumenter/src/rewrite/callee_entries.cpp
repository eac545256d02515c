#include "rewrite/callee_entries.h"

#include <fnmatch.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <vector>

namespace vprof::instrumenter {

CalleeEntries::CalleeEntries(const Program& program, const Plan& plan)
    : program_(program), plan_(plan) {
  if (!plan.armed) {
    return;
  }
  for (const Function& f : program.functions) {
    if (is_small_helper(program, f)) {
      spared_.insert(&f);
    }
  }
  find_leading();
}

bool CalleeEntries::measure(const Call& call) {
  bool possible = false;
  std::deque<const Function*> next;
  const auto enter = [&](const Function* f) {
    if (!is_spared(*f)) {
      measured_.insert(f->key);
    } else if (leading_.contains(f)) {
      if (seen_.insert(f).second) {
        next.push_back(f);
      }
    } else {
      return false;
    }
    return true;
  };
  for (const Function* f : reached_by(call)) {
    possible = enter(f) || possible;
  }
  while (!next.empty()) {
    for (const Function* f : called_by(*next.front())) {
      enter(f);
    }
    next.pop_front();
  }
  return possible;
}

CalleeEntries::Functions CalleeEntries::reached_by(const Call& call) const {
  Functions reached;
  for (const Function* f : entries_of(program_, call)) {
    if (!is_excluded(plan_, f->file, f->name)) {
      reached.insert(f);
    }
  }
  return reached;
}

CalleeEntries::Functions CalleeEntries::called_by(const Function& f) const {
  Functions called;
  for (const Call& call : f.calls) {
    if (worth_measuring(program_, call)) {
      called.merge(reached_by(call));
    }
  }
  return called;
}

void CalleeEntries::find_leading() {
  std::unordered_map<const Function*, std::vector<const Function*>> callers;
  std::deque<const Function*> next;
  for (const Function* f : spared_) {
    for (const Function* callee : called_by(*f)) {
      if (is_spared(*callee)) {
        callers[callee].push_back(f);
      } else if (leading_.insert(f).second) {
        next.push_back(f);
      }
    }
  }
  while (!next.empty()) {
    for (const Function* caller : callers[next.front()]) {
      if (leading_.insert(caller).second) {
        next.push_back(caller);
      }
    }
    next.pop_front();
  }
}

bool is_excluded(const Plan& plan, const std::string& file, const std::string& name) {
  return std::any_of(plan.exclude.begin(), plan.exclude.end(), [&](const std::string& glob) {
    return fnmatch(glob.c_str(), file.c_str(), 0) == 0 ||
           fnmatch(glob.c_str(), name.c_str(), 0) == 0;
  });
}

}  // namespace vprof::instrumenter
