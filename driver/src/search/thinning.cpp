#include "search/thinning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "vprof/analyzer/overhead.h"

namespace vprof::driver {

namespace {

using analyzer::GroupCost;
using analyzer::Profile;
using instrumenter::SiteKind;
using instrumenter::SitesFile;
using report::Demoted;

constexpr double kLittle = 0.01;  // of the variance: less is not worth a measurement
// Of the time: less is not worth leaving out, at first and if the plan is still too expensive.
constexpr double kLeastCost = 0.001;
constexpr double kLeastOfMany = 0.0001;
/// Calls in one interval from which on they are a loop. Fewer cost little, unless the interval is
/// so short that nothing in it could be measured.
constexpr double kMany = 10;

double variation_of(const analyzer::Node& node) {
  return std::max(std::abs(node.contribution), std::abs(node.share));
}

/// How much of the variance depends on measuring a call.
class Variation {
 public:
  explicit Variation(const analyzer::Node& root) { add(root); }

  /// The largest part in any node of the call, or in a parked node that is named after the callee.
  double of(const std::string& callee, const std::string& location) const {
    const auto found = by_call_.find({callee, location});
    double most = found == by_call_.end() ? 0 : found->second;
    for (const analyzer::Node* node : parked_) {
      if (node->function.starts_with(fmt::format("parked({})", callee)) ||
          node->function.ends_with(fmt::format(", resumed by {}", callee))) {
        most = std::max(most, variation_of(*node));
      }
    }
    return most;
  }

 private:
  void add(const analyzer::Node& node) {
    double& most = by_call_[{node.function, node.location}];
    most = std::max(most, variation_of(node));
    if (node.kind == analyzer::NodeKind::kParked) {
      parked_.push_back(&node);
    }
    for (const analyzer::Node& child : node.children) {
      add(child);
    }
  }

  std::map<std::pair<std::string, std::string>, double> by_call_;  // by callee and `file:line`
  std::vector<const analyzer::Node*> parked_;
};

/// Calls that can be left out: one entry for all sites at one position.
struct SiteToDemote {
  Demoted site;
  std::string location;  ///< `file:line`
  SiteKind kind = SiteKind::kCall;
  int height = 0;  ///< of the callee
};

class Candidates {
 public:
  Candidates(const SitesFile& sites, const State& state) {
    std::map<size_t, const SitesFile::FunctionEntry*> functions;
    for (const SitesFile::FunctionEntry& one : sites.functions) {
      functions[one.id] = &one;
    }
    for (const SitesFile::SiteEntry& site : sites.sites) {
      const auto function = functions.find(site.function);
      if (function == functions.end()) {
        continue;
      }
      const std::string location = fmt::format("{}:{}", site.file, site.line);
      const std::string position = fmt::format("{}:{}", location, site.column);
      if (is_left_out(state.demoted, position)) {
        continue;
      }
      SiteToDemote& one = by_position_[position];
      one.site.function = function->second->name;
      one.site.key = function->second->key;
      one.site.position = position;
      one.site.since = state.iteration + 1;
      one.location = location;
      one.kind = site.kind;
      one.height = function->second->height;
      sites_[position].push_back(site.id);
      if (site.kind == SiteKind::kFunction) {
        scopes_[one.site.key] = position;
      }
    }
  }

  static bool is_left_out(const std::vector<Demoted>& demoted, const std::string& position) {
    return std::ranges::find(demoted, position, &Demoted::position) != demoted.end();
  }

  /// All that were passed, with how often.
  std::vector<SiteToDemote> passed(const std::vector<uint64_t>& calls) const {
    std::vector<SiteToDemote> found;
    for (const auto& [position, one] : by_position_) {
      uint64_t sum = 0;
      for (const uint32_t id : sites_.at(position)) {
        sum += id < calls.size() ? calls[id] : 0;
      }
      if (sum != 0) {
        found.push_back(one);
        found.back().site.calls = sum;
      }
    }
    return found;
  }

  /// A function that is expanded has a scope of its own, which takes the place of a call that is
  /// left out. So it goes as well, unless it is among `demoted` or it is not `wanted`.
  template <class Wanted>
  void add_scopes(std::vector<Demoted>& demoted, const Wanted& wanted) const {
    std::vector<Demoted> scopes;
    for (const Demoted& one : demoted) {
      const auto scope = scopes_.find(one.key);
      if (scope == scopes_.end() || is_left_out(demoted, scope->second) ||
          is_left_out(scopes, scope->second)) {
        continue;
      }
      const SiteToDemote& found = by_position_.at(scope->second);
      if (wanted(found)) {
        scopes.push_back(found.site);
        scopes.back().heavy_in = one.heavy_in;
      }
    }
    demoted.insert(demoted.end(), scopes.begin(), scopes.end());
  }

 private:
  std::map<std::string, SiteToDemote> by_position_;
  std::map<std::string, std::vector<uint32_t>> sites_;  // by position
  std::map<std::string, std::string> scopes_;           // position by key of the function
};

std::string in_words(const GroupCost& group) {
  if (!group.label.empty()) {
    return "intervals labelled " + group.label;
  }
  return group.from_ns > 0 ? fmt::format("intervals of more than {:.3g} ms", group.from_ns / 1e6)
                           : "all intervals";
}

/// The calls that the intervals of a group make many times each, beyond `budget` of their latency.
void add_heavy(const GroupCost& group, std::vector<SiteToDemote> passed, double record_ns,
               double budget, std::vector<Demoted>& heavy) {
  const auto count = static_cast<double>(group.count);
  const double rest = group.latency_ns - static_cast<double>(group.records) * record_ns;
  // If the records take all of it, what remains without them cannot be told; a tenth is enough.
  const double latency = std::max(rest, group.latency_ns / analyzer::kMostCost);
  double repeated = 0;
  std::erase_if(passed, [&](SiteToDemote& one) {
    one.site.cost = static_cast<double>(one.site.calls) * record_ns / latency;
    const bool many = static_cast<double>(one.site.calls) >= kMany * count;
    const bool gone = Candidates::is_left_out(heavy, one.site.position);
    repeated += many && !gone ? one.site.cost : 0;
    return !many || gone;
  });
  // Of calls that are made equally often, the inner ones go first.
  std::ranges::stable_sort(passed, [](const SiteToDemote& a, const SiteToDemote& b) {
    return std::pair(b.site.calls, a.height) < std::pair(a.site.calls, b.height);
  });
  for (SiteToDemote& one : passed) {
    if (repeated <= budget) {
      return;
    }
    repeated -= one.site.cost;
    one.site.heavy_in = in_words(group);
    one.site.calls =
        static_cast<uint64_t>(std::llround(static_cast<double>(one.site.calls) / count));
    heavy.push_back(std::move(one.site));
  }
}

}  // namespace

std::vector<Demoted> heavy_sites(const Profile& profile, const SitesFile& sites, const State& state,
                                 double budget) {
  const Candidates candidates(sites, state);
  const double record_ns = analyzer::record_cost_ns(profile.overhead);
  const std::vector<GroupCost>& groups = profile.overhead.groups;
  const size_t count = std::min(groups.size(), profile.group_calls.size());
  std::vector<Demoted> heavy;
  for (size_t turn = 0; turn < count; ++turn) {
    const size_t i = (turn + 1) % count;  // all intervals, the first group, last
    if (groups[i].deviation >= kLittle && groups[i].count != 0) {
      add_heavy(groups[i], candidates.passed(profile.group_calls[i]), record_ns, budget, heavy);
    }
  }
  candidates.add_scopes(heavy, [](const SiteToDemote&) { return true; });
  return heavy;
}

Thinning thin_plan(const Profile& profile, const SitesFile& sites,
                   const std::vector<uint64_t>& calls, const State& state, double excess,
                   const std::vector<Demoted>& left_out) {
  const Variation variation(profile.tree);
  const auto varies = [&](const SiteToDemote& one) {
    return variation.of(one.site.function, one.location);
  };
  const double cost_of_one = profile.overhead.records == 0
                                 ? 0
                                 : analyzer::measuring_cost(profile.overhead) /
                                       static_cast<double>(profile.overhead.records);
  Thinning thinning;
  const Candidates candidates(sites, state);
  std::vector<SiteToDemote> passed = candidates.passed(calls);
  for (SiteToDemote& one : passed) {
    one.site.cost = static_cast<double>(one.site.calls) * cost_of_one;
    thinning.saved += Candidates::is_left_out(left_out, one.site.position) ? one.site.cost : 0;
  }
  std::ranges::stable_sort(passed, [](const SiteToDemote& a, const SiteToDemote& b) {
    return a.site.cost > b.site.cost;
  });
  const auto leave_out = [&](double least_cost, double most_variation) {
    for (const SiteToDemote& one : passed) {
      if (thinning.saved >= excess || one.site.cost < least_cost) {
        return;
      }
      if (varies(one) < most_variation && !Candidates::is_left_out(left_out, one.site.position) &&
          !Candidates::is_left_out(thinning.demoted, one.site.position)) {
        thinning.saved += one.site.cost;
        thinning.demoted.push_back(one.site);
      }
    }
  };
  leave_out(kLeastCost, kLittle);
  leave_out(kLeastOfMany, profile.threshold);
  candidates.add_scopes(thinning.demoted,
                        [&](const SiteToDemote& one) { return varies(one) < profile.threshold; });
  return thinning;
}

}  // namespace vprof::driver
