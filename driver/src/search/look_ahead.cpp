#include "search/look_ahead.h"

#include <algorithm>
#include <map>
#include <set>

namespace vprof::driver {

namespace {

using instrumenter::Call;
using instrumenter::CallKind;
using instrumenter::Function;
using instrumenter::Program;

bool loops(const Program& program, const Function& function) {
  return std::ranges::any_of(instrumenter::expanded_with(program, function), [&](const auto* body) {
    return std::ranges::any_of(body->calls, [&](const Call& call) {
      return call.in_loop && instrumenter::worth_measuring(program, call);
    });
  });
}

/// Walks the call graph breadth first. Terminates because a function is never visited twice.
class LookAhead {
 public:
  LookAhead(const Program& program, const State& state, const Foresight& foresight)
      : program_(program), left_(foresight.sites) {
    seen_.insert(state.expanded.begin(), state.expanded.end());
    for (const report::Demoted& one : state.demoted) {
      seen_.insert(one.key);
    }
    for (const auto* decided : {&state.selected, &state.set_aside}) {
      for (const DecidedFactor& factor : *decided) {
        seen_.insert(factor.id);
      }
    }
  }

  std::vector<std::string> from(const std::vector<std::string>& keys) {
    std::vector<const Function*> open;
    for (const std::string& key : keys) {
      seen_.insert(key);
      if (const Function* function = program_.by_key(key); function != nullptr) {
        open.push_back(function);
      }
    }
    std::vector<std::string> found;
    for (size_t i = 0; i < open.size(); ++i) {
      for (const Function* callee : next_to(*open[i])) {
        seen_.insert(callee->key);
        found.push_back(callee->key);
        open.push_back(callee);
      }
    }
    return found;
  }

 private:
  /// The callees of an expanded function that are expanded with it.
  std::vector<const Function*> next_to(const Function& function) {
    std::vector<const Function*> callees = open_callees(function);
    if (callees.size() == 1) {
      left_ -= std::min(left_, sites_of(*callees[0]));
      return callees;
    }
    size_t sites = 0;
    for (const Function* callee : callees) {
      sites += sites_of(*callee);
    }
    if (sites > left_) {
      return {};
    }
    left_ -= sites;
    return callees;
  }

  /// What an expanded function calls and can be expanded. Behind a pointer that leads to a few
  /// functions these are expanded with it, so what they call is meant.
  std::vector<const Function*> open_callees(const Function& function) const {
    std::vector<const Function*> callees;
    for (const Function* body : instrumenter::expanded_with(program_, function)) {
      for (const Call& call : body->calls) {
        const Function* callee = program_.by_key(call.callee_key);
        const bool open = callee != nullptr && !call.in_loop && !seen_.contains(callee->key) &&
                          instrumenter::worth_measuring(program_, call) &&
                          program_.expandable(*callee) && !loops(program_, *callee);
        if (open && std::ranges::find(callees, callee) == callees.end()) {
          callees.push_back(callee);
        }
      }
    }
    return callees;
  }

  size_t sites_of(const Function& function) const {
    size_t sites = 0;
    for (const Function* body : instrumenter::expanded_with(program_, function)) {
      sites += static_cast<size_t>(std::ranges::count_if(body->calls, [&](const Call& call) {
        return instrumenter::worth_measuring(program_, call);
      }));
    }
    return sites;
  }

  const Program& program_;
  size_t left_;
  std::set<std::string> seen_;
};

// ---- from a call that waits to its callers

/// If more functions than this make the call, most of them are not on the path.
constexpr size_t kMostWaiters = 20;
/// Call sites in the functions that are expanded. What leads to a blocking call is called rarely.
constexpr size_t kMostSitesAbove = 150;

using FunctionSet = std::set<const Function*>;

/// The calls of libc that are recorded under one name, if they are several.
const std::map<std::string, std::set<std::string>>& families() {
  static const std::map<std::string, std::set<std::string>> all = {
      {"read", {"readv", "recv", "recvfrom", "recvmsg", "accept", "accept4"}},
      {"write", {"writev", "send", "sendto", "sendmsg"}},
      {"poll", {"ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "epoll_pwait2"}},
      // The last four if they wait for nothing but the time.
      {"sleep",
       {"nanosleep", "clock_nanosleep", "usleep", "thrd_sleep", "poll", "ppoll", "select",
        "pselect"}},
      {"sched_yield", {"thrd_yield", "std::this_thread::yield"}},
      {"semop", {"semtimedop"}},
      {"file lock", {"flock", "lockf", "fcntl"}},
      {"sem_wait", {"sem_timedwait", "sem_clockwait"}},
      {"pthread_cond_wait", {"pthread_cond_timedwait", "std::condition_variable::wait"}}};
  return all;
}

/// `fsync` of `wait(fsync)`.
std::string call_of(const std::string& wait) {
  const size_t open = wait.find('(');
  return open == std::string::npos ? "" : wait.substr(open + 1, wait.size() - open - 2);
}

bool makes(const std::string& function, const std::string& call) {
  if (function == call || function == call + "64") {
    return true;
  }
  const auto family = families().find(call);
  return family != families().end() && family->second.contains(function);
}

FunctionSet functions_named(const std::string& call, const Program& program) {
  FunctionSet found;
  for (const Function& f : program.functions) {
    if (f.file.empty() && makes(f.name, call)) {
      found.insert(&f);
    }
  }
  return found;
}

/// What `from` calls, directly or not, with itself. Null: everything.
FunctionSet reached(const Function* from, const Program& program) {
  FunctionSet found;
  std::vector<const Function*> open;
  const auto add = [&](const Function* f) {
    if (f != nullptr && found.insert(f).second) {
      open.push_back(f);
    }
  };
  add(from);
  while (!open.empty()) {
    const Function* f = open.back();
    open.pop_back();
    for (const Call& call : f->calls) {
      if (call.kind != CallKind::kSpawn) {
        add(program.by_key(call.callee_key));
      }
    }
    for (const std::string& key : f->targets) {
      add(program.by_key(key));
    }
  }
  return found;
}

/// The call graph against its direction.
class ReverseGraph {
 public:
  explicit ReverseGraph(const Program& program) : program_(program) {
    for (const Function& f : program.functions) {
      for (const std::string& key : f.targets) {
        behind_[key].push_back(&f);
      }
    }
  }

  /// The functions with a body that call one of these, also through pointers.
  FunctionSet callers_of(const FunctionSet& callees) const {
    FunctionSet found;
    FunctionSet seen;
    std::vector<const Function*> open(callees.begin(), callees.end());
    while (!open.empty()) {
      const Function* callee = open.back();
      open.pop_back();
      if (!seen.insert(callee).second) {
        continue;
      }
      for (const Function* caller : program_.callers(*callee)) {
        if (calls(*caller, *callee)) {
          found.insert(caller);
        }
      }
      if (const auto behind = behind_.find(callee->key); behind != behind_.end()) {
        open.insert(open.end(), behind->second.begin(), behind->second.end());
      }
    }
    return found;
  }

 private:
  static bool calls(const Function& caller, const Function& callee) {
    return std::ranges::any_of(caller.calls, [&](const Call& call) {
      return call.callee_key == callee.key && call.kind != CallKind::kSpawn;
    });
  }

  const Program& program_;
  std::map<std::string, std::vector<const Function*>> behind_;  // key: pointers and the like
};

size_t sites_of(const FunctionSet& functions, const Program& program) {
  size_t sites = 0;
  for (const Function* f : functions) {
    sites += static_cast<size_t>(std::ranges::count_if(
        f->calls, [&](const Call& call) { return instrumenter::worth_measuring(program, call); }));
  }
  return sites;
}

}  // namespace

std::vector<std::string> look_ahead(const std::vector<std::string>& keys, const Program& program,
                                    const State& state, const Foresight& foresight) {
  return LookAhead(program, state, foresight).from(keys);
}

std::set<std::string> callers_that_wait(const std::string& wait, const Function* below,
                                        const Program& program, const State& state) {
  const FunctionSet within = reached(below, program);
  const ReverseGraph graph(program);
  const std::set<std::string> expanded(state.expanded.begin(), state.expanded.end());
  FunctionSet level = functions_named(call_of(wait), program);
  FunctionSet seen;
  std::set<std::string> keys;
  size_t sites = 0;
  // Goes up level by level. Terminates because a level consists of functions not seen before.
  for (bool direct = true; !level.empty(); direct = false) {
    level = graph.callers_of(level);
    std::erase_if(level, [&](const Function* f) {
      return (below != nullptr && !within.contains(f)) || !seen.insert(f).second;
    });
    FunctionSet open = level;
    std::erase_if(open, [&](const Function* f) {
      return expanded.contains(f->key) || !program.expandable(*f);
    });
    sites += sites_of(open, program);
    if (direct ? open.empty() || level.size() > kMostWaiters : sites > kMostSitesAbove) {
      break;
    }
    for (const Function* f : open) {
      keys.insert(f->key);
    }
  }
  return keys;
}

bool may_make(const std::string& wait, const Function& function, const Program& program) {
  const std::string call = call_of(wait);
  const FunctionSet within = reached(&function, program);
  return std::ranges::any_of(within, [&](const Function* f) { return makes(f->name, call); });
}

}  // namespace vprof::driver
