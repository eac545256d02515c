#include "search/common_callee.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace vprof::driver {

namespace {

using analyzer::Node;
using instrumenter::Call;
using instrumenter::Function;
using instrumenter::Program;

/// More callers than this are not expanded at once: what they add is small by then.
constexpr size_t kMostCallers = 50;
constexpr double kRounding = 1e-9;

/// What of the share of a node is in no function that is measured below it.
double unexplained_share(const Node& node) {
  double share = node.share;
  for (const Node& child : node.children) {
    share -= child.function_key.empty() ? 0 : child.share;
  }
  return share;
}

/// Shares by key of the function, over the outermost instances.
void add_shares(const Node& node, std::set<std::string>& above,
                std::map<std::string, double>& shares) {
  const bool counts = !node.function_key.empty() && above.insert(node.function_key).second;
  if (counts) {
    shares[node.function_key] += unexplained_share(node);
  }
  for (const Node& child : node.children) {
    add_shares(child, above, shares);
  }
  if (counts) {
    above.erase(node.function_key);
  }
}

bool is_decided(const std::vector<DecidedFactor>& decided, const std::string& key) {
  return std::ranges::find(decided, key, &DecidedFactor::id) != decided.end();
}

bool is_open(const Function* function, const Program& program, const State& state) {
  return function != nullptr && program.expandable(*function) &&
         !is_settled(state, function->key) && !is_decided(state.set_aside, function->key) &&
         !is_decided(state.selected, function->key);
}

/// All functions that `from` calls, directly or not, without itself.
std::set<std::string> callees_of(const Function& from, const Program& program) {
  std::set<std::string> reached;
  std::vector<const Function*> open = {&from};
  while (!open.empty()) {
    const Function* function = open.back();
    open.pop_back();
    for (const Call& call : function->calls) {
      if (call.callee_key == from.key || !reached.insert(call.callee_key).second) {
        continue;
      }
      if (const Function* callee = program.by_key(call.callee_key); callee != nullptr) {
        open.push_back(callee);
      }
    }
  }
  return reached;
}

/// Iterators, strings and the like of the C++ library: what many functions call, but no cause.
bool is_library_helper(const std::string& key) {
  return key.starts_with("std::") || key.starts_with("__gnu_cxx::");
}

struct Callers {
  double share = 0;
  std::vector<std::pair<double, std::string>> callers;  // minus the share, key
};

}  // namespace

std::string CommonCallee::in_words() const {
  return fmt::format("{} callers of {} ({:.0f} % of the variance together)", keys.size(), name,
                     100 * share);
}

CommonCallee find_common_callee(const analyzer::Profile& profile, const Program& program,
                                const State& state) {
  std::map<std::string, double> shares;
  std::set<std::string> above;
  add_shares(profile.tree, above, shares);
  std::map<std::string, Callers> by_callee;
  for (const auto& [key, share] : shares) {
    const Function* function = program.by_key(key);
    if (share <= 0 || !is_open(function, program, state)) {
      continue;
    }
    for (const std::string& callee : callees_of(*function, program)) {
      Callers& one = by_callee[callee];
      one.share += share;
      one.callers.emplace_back(-share, key);
    }
  }
  CommonCallee best;
  bool best_in_tree = false;
  bool best_is_helper = true;
  for (auto& [callee, one] : by_callee) {
    const Function* function = program.by_key(callee);
    // Of several functions with the same callers, one of the program says more than a library's.
    const bool in_tree = function != nullptr && !function->file.empty();
    const bool is_helper = is_library_helper(callee);
    const bool more = one.share > best.share + kRounding ||
                      (in_tree && !best_in_tree && one.share > best.share - kRounding);
    const bool better = is_helper == best_is_helper ? more : best_is_helper;
    if (one.callers.size() < 2 || one.share < profile.threshold || !better) {
      continue;
    }
    best_in_tree = in_tree;
    best_is_helper = is_helper;
    best = {function == nullptr ? callee : function->name, one.share, {}};
    std::ranges::sort(one.callers);
    for (const auto& [minus_share, key] : one.callers) {
      if (best.keys.size() < kMostCallers) {
        best.keys.push_back(key);
      }
    }
  }
  return best;
}

}  // namespace vprof::driver
