#include "search/thinning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "vprof/analyzer/overhead.h"
#include "vprof/support/text.h"

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
/// A site that is passed less often in a recording is not to blame for what recording costs, even
/// if all are rare, as where the cost is that of starting it. A live search takes a first look at a
/// handful of intervals, in which whatever is rare seems to vary little.
constexpr uint64_t kOften = 100;
/// Calls in one interval from which on they are a loop. Fewer cost little, unless the interval is
/// so short that nothing in it could be measured.
constexpr double kMany = 10;

/// What the presence of a site costs that is hardly ever passed, each time the function around it
/// is called, as a part of a record: the compiler no longer puts the function in line, or saves
/// registers that it did not need. 4 to 7 instructions in SQLite.
constexpr double kPresence = 1.0 / 10;

constexpr const char* kAllIntervals = "all intervals";

double variation_of(const analyzer::Node& node) {
  return std::max(std::abs(node.contribution), std::abs(node.share));
}

/// A call, on the interval's own path or in what a wait is blamed on.
bool is_call(const analyzer::Node& node) {
  return node.kind == analyzer::NodeKind::kFunction ||
         (node.kind == analyzer::NodeKind::kBlame && !node.location.empty());
}

/// Defined outside the program, so its name alone does not say where it is called.
bool is_of_library(const analyzer::Node& node) { return node.function_key.ends_with('@'); }

/// What a node has besides the functions of the program that are measured in it: its body, waits,
/// preemption, and what it calls in libraries, such as the `nanosleep` around a wait.
double own_variation_of(const analyzer::Node& node) {
  double most = node.children.empty() ? variation_of(node) : 0;
  for (const analyzer::Node& child : node.children) {
    if (!is_call(child) || is_of_library(child)) {
      most = std::max(most, variation_of(child));
    }
  }
  return most;
}

/// How much of the variance depends on measuring a call.
class Variation {
 public:
  Variation(const analyzer::Node& root, double (&measure)(const analyzer::Node&))
      : measure_(measure) {
    add(root);
  }

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
    most = std::max(most, measure_(node));
    if (node.kind == analyzer::NodeKind::kParked) {
      parked_.push_back(&node);
    }
    for (const analyzer::Node& child : node.children) {
      add(child);
    }
  }

  double (&measure_)(const analyzer::Node&);
  std::map<std::pair<std::string, std::string>, double> by_call_;  // by callee and `file:line`
  std::vector<const analyzer::Node*> parked_;
};

/// Calls that can be left out: one entry for all sites at one position.
struct SiteToDemote {
  Demoted site;
  std::string location;  ///< `file:line`
  std::string parent;    ///< key of the function that the call is in; empty for scopes
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
      const auto parent = functions.find(site.parent.value_or(0));
      one.parent = parent == functions.end() ? "" : parent->second->key;
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

  /// All, with how often each was passed.
  std::vector<SiteToDemote> all(const std::vector<uint64_t>& calls) const {
    std::vector<SiteToDemote> found;
    for (const auto& [position, one] : by_position_) {
      found.push_back(one);
      for (const uint32_t id : sites_.at(position)) {
        found.back().site.calls += id < calls.size() ? calls[id] : 0;
      }
    }
    return found;
  }

  std::vector<SiteToDemote> passed(const std::vector<uint64_t>& calls) const {
    std::vector<SiteToDemote> found = all(calls);
    std::erase_if(found, [](const SiteToDemote& one) { return one.site.calls == 0; });
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
  return group.from_ns > 0 ? fmt::format("intervals of more than {}", human_time(group.from_ns))
                           : kAllIntervals;
}

/// What one record adds to the time that the program is busy.
double cost_of_a_record(const analyzer::Overhead& overhead) {
  return overhead.records == 0
             ? 0
             : analyzer::measuring_cost(overhead) / static_cast<double>(overhead.records);
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
  const Variation whole(profile.tree, variation_of);
  const Variation own(profile.tree, own_variation_of);
  const double cost_of_one = cost_of_a_record(profile.overhead);
  Thinning thinning;
  const Candidates candidates(sites, state);
  std::vector<SiteToDemote> passed = candidates.passed(calls);
  for (SiteToDemote& one : passed) {
    one.site.cost = static_cast<double>(one.site.calls) * cost_of_one;
    thinning.saved += Candidates::is_left_out(left_out, one.site.position) ? one.site.cost : 0;
  }
  std::erase_if(passed, [](const SiteToDemote& one) { return one.site.calls < kOften; });
  std::ranges::stable_sort(passed, [](const SiteToDemote& a, const SiteToDemote& b) {
    return a.site.cost > b.site.cost;
  });
  const auto leave_out = [&](double least_cost, const Variation& variation, double most_variation) {
    for (const SiteToDemote& one : passed) {
      if (thinning.saved >= excess || one.site.cost < least_cost) {
        return;
      }
      if (variation.of(one.site.function, one.location) < most_variation &&
          !Candidates::is_left_out(left_out, one.site.position) &&
          !Candidates::is_left_out(thinning.demoted, one.site.position)) {
        thinning.saved += one.site.cost;
        thinning.demoted.push_back(one.site);
      }
    }
  };
  leave_out(kLeastCost, whole, kLittle);
  leave_out(kLeastOfMany, whole, profile.threshold);
  candidates.add_scopes(thinning.demoted, [&](const SiteToDemote& one) {
    return whole.of(one.site.function, one.location) < profile.threshold;
  });
  const size_t passed_on = thinning.demoted.size();
  // A scope that is not the end of a measured call stays: nothing else would hold its time.
  std::erase_if(passed, [](const SiteToDemote& one) { return one.kind == SiteKind::kFunction; });
  leave_out(kLeastCost, own, kLittle);
  std::vector<Demoted> last(thinning.demoted.begin() + static_cast<std::ptrdiff_t>(passed_on),
                            thinning.demoted.end());
  candidates.add_scopes(last, [&](const SiteToDemote& one) {
    return own.of(one.site.function, one.location) < kLittle &&
           !Candidates::is_left_out(thinning.demoted, one.site.position);
  });
  thinning.demoted.resize(passed_on);
  thinning.demoted.insert(thinning.demoted.end(), last.begin(), last.end());
  return thinning;
}

std::vector<Demoted> burdens(const Profile& profile, const SitesFile& sites,
                             const std::vector<uint64_t>& calls, const State& state) {
  const auto intervals = static_cast<double>(profile.interval.count);
  std::map<std::string, double> entered;  // by key: what is left out, and how often it was called
  for (const Demoted& one : state.demoted) {
    entered[one.key] +=
        static_cast<double>(one.calls) * (one.heavy_in == kAllIntervals ? intervals : 1);
  }
  std::map<std::string, std::vector<SiteToDemote>> within;
  for (SiteToDemote& one : Candidates(sites, state).all(calls)) {
    if (one.site.calls != 0) {
      entered.erase(one.site.key);  // still measured
    }
    within[one.parent].push_back(std::move(one));
  }
  const Variation whole(profile.tree, variation_of);
  const double each = kPresence * cost_of_a_record(profile.overhead);
  std::vector<Demoted> found;
  for (auto& [function, inner] : within) {
    const auto called = entered.find(function);
    if (called == entered.end() || called->second * each < kLeastOfMany) {
      continue;
    }
    for (SiteToDemote& one : inner) {
      if (whole.of(one.site.function, one.location) < kLittle) {
        one.site.within = function.substr(0, function.rfind('@'));
        one.site.cost = called->second * each / static_cast<double>(inner.size());
        found.push_back(std::move(one.site));
      }
    }
  }
  return found;
}

}  // namespace vprof::driver
