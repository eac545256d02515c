#include "search/common_callee.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace vprof::driver {

namespace {

using analyzer::Node;
using analyzer::NodeKind;
using instrumenter::Call;
using instrumenter::Function;
using instrumenter::Program;

/// More callers than this are not expanded at once: what they add is small by then.
constexpr size_t kMostCallers = 50;
constexpr double kRounding = 1e-9;

/// What of the share of a node is in no function that is measured below it. Waits have names of
/// their own, under all of their callers, and nothing finds what caused a preemption.
double unexplained_share(const Node& node) {
  double share = node.share;
  for (const Node& child : node.children) {
    share -= child.kind == NodeKind::kBody ? 0 : child.share;
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

/// The calls of a program by numbers of its functions, of those that somebody has asked for.
class NumberedCalls {
 public:
  explicit NumberedCalls(const Program& program) : program_(program) {}

  /// All functions that `from` calls, directly or not, without itself.
  std::vector<uint32_t> reached_from(const Function& from) {
    std::vector<uint32_t> reached = {number_of(from.key)};
    ++round_;
    nodes_[reached.front()].seen = round_;
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const uint32_t callee : callees_of(reached[i])) {
        if (std::exchange(nodes_[callee].seen, round_) != round_) {
          reached.push_back(callee);
        }
      }
    }
    reached.erase(reached.begin());
    return reached;
  }

  const std::string& key(uint32_t number) const { return *nodes_[number].key; }

 private:
  struct Node {
    const std::string* key = nullptr;
    uint32_t seen = 0;  // in which round
    bool known = false;
    std::vector<uint32_t> callees = {};
  };

  uint32_t number_of(const std::string& key) {
    const auto [it, is_new] = numbers_.emplace(key, static_cast<uint32_t>(nodes_.size()));
    if (is_new) {
      nodes_.push_back({.key = &key});
    }
    return it->second;
  }

  const std::vector<uint32_t>& callees_of(uint32_t number) {
    if (!nodes_[number].known) {
      std::vector<uint32_t> callees;
      if (const Function* function = program_.by_key(key(number)); function != nullptr) {
        for (const Call& call : function->calls) {
          callees.push_back(number_of(call.callee_key));
        }
      }
      std::ranges::sort(callees);
      callees.erase(std::ranges::unique(callees).begin(), callees.end());
      nodes_[number].callees = std::move(callees);
      nodes_[number].known = true;
    }
    return nodes_[number].callees;
  }

  const Program& program_;
  std::unordered_map<std::string_view, uint32_t> numbers_;
  std::vector<Node> nodes_;
  uint32_t round_ = 0;
};

/// Iterators, strings and the like of the C++ library: what many functions call, but no cause.
bool is_library_helper(std::string_view key) {
  return key.starts_with("std::") || key.starts_with("__gnu_cxx::");
}

struct Callers {
  double share = 0;
  std::vector<std::pair<double, const std::string*>> callers;  // share, key
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
  NumberedCalls calls(program);
  std::unordered_map<uint32_t, Callers> by_number;
  for (const auto& [key, share] : shares) {
    const Function* function = program.by_key(key);
    if (share <= 0 || !is_open(function, program, state)) {
      continue;
    }
    for (const uint32_t callee : calls.reached_from(*function)) {
      Callers& one = by_number[callee];
      one.share += share;
      one.callers.emplace_back(share, &key);
    }
  }
  std::map<std::string_view, Callers*> by_callee;
  for (auto& [number, one] : by_number) {
    if (one.callers.size() >= 2 && one.share >= profile.threshold) {
      by_callee[calls.key(number)] = &one;
    }
  }
  CommonCallee best;
  bool best_in_tree = false;
  bool best_is_helper = true;
  for (const auto& [callee, callers] : by_callee) {
    const Function* function = program.by_key(callee);
    // Of several functions with the same callers, one of the program says more than a library's.
    const bool in_tree = function != nullptr && !function->file.empty();
    const bool is_helper = is_library_helper(callee);
    const bool more = callers->share > best.share + kRounding ||
                      (in_tree && !best_in_tree && callers->share > best.share - kRounding);
    const bool better = is_helper == best_is_helper ? more : best_is_helper;
    if (!better) {
      continue;
    }
    best_in_tree = in_tree;
    best_is_helper = is_helper;
    best = {function == nullptr ? std::string(callee) : function->name, callers->share, {}};
    // Those with equal shares stay in the order of their keys.
    std::ranges::stable_sort(callers->callers, std::greater(),
                             [](const auto& one) { return one.first; });
    for (const auto& [caller_share, key] : callers->callers) {
      if (best.keys.size() < kMostCallers) {
        best.keys.push_back(*key);
      }
    }
  }
  return best;
}

}  // namespace vprof::driver
