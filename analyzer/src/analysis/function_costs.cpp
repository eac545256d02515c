#include "vprof/analyzer/function_costs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>

#include "analysis/node_times.h"
#include "analysis/record_tally.h"
#include "critical_path/interval_scan.h"
#include "statistics/moments.h"

namespace vprof::analyzer {
namespace {

/// A function that is asked for, its own time, a call site in it, or a wait directly below it.
struct Entry {
  enum class What : uint8_t { kWhole, kOwn, kSite, kWait };

  uint32_t function = 0;  // index into the keys
  What what = What::kWhole;
  uint32_t site = 0;  // of kSite
  std::string name;   // of kWait
  auto operator<=>(const Entry&) const = default;
};

struct EntrySums {
  uint32_t function = 0;
  bool is_part = false;
  NodeSums all = {};
  UInt128 blamed = 0;  // of all.x
};

/// Sums over the intervals of one kind.
class KindCosts {
 public:
  KindCosts(const Sites& sites, const std::vector<std::string>& keys)
      : sites_(sites), tree_(sites) {
    for (size_t i = 0; i < sites.functions.size(); ++i) {
      const auto found = std::ranges::find(keys, sites.functions[i].key);
      if (found != keys.end()) {
        wanted_[static_cast<uint32_t>(i)] = static_cast<uint32_t>(found - keys.begin());
      }
    }
  }

  uint64_t count() const { return latencies_.n; }

  void add(Interval interval, const Scanned& scanned) {
    const WakeUpEdges& edges = scanned.wake_up_edges();
    if (!walker_) {
      walker_ = std::make_unique<PathWalker>(scanned.window, sites_, edges, tree_);
      records_ = std::make_unique<RecordTally>(scanned.window, sites_.sites.size());
    }
    const std::span<const NodeTimes::Time> times = times_.add_up(walker_->walk(interval), tree_);
    interval.set_up = walker_->set_up();
    records_->add(interval);
    const auto latency = static_cast<uint64_t>(interval.latency());
    latencies_.add(latency);
    while (entries_of_.size() < tree_.nodes().size()) {
      entries_of_.push_back(entries_of(static_cast<uint32_t>(entries_of_.size())));
    }
    std::map<size_t, std::pair<uint64_t, uint64_t>> of_interval;  // all of it, and as blame
    for (const NodeTimes::Time& time : times) {
      for (const size_t entry : entries_of_[time.node]) {
        auto& [all, blamed] = of_interval[entry];
        all += time.ns;
        blamed += tree_.nodes()[time.node].blamed ? time.ns : 0;
      }
    }
    for (const auto& [entry, time] : of_interval) {
      if (time.first != 0) {
        sums_[entry].all.add(time.first, latency);
        sums_[entry].blamed += time.second;
      }
    }
  }

  /// Before another slice of the recording, or costs_of().
  void end_slice(const std::vector<std::string>& labels) {
    if (records_) {
      for (const auto& [magnitude, sums] : records_->sums(labels).magnitudes) {
        calls_.resize(std::max(calls_.size(), sums.calls.size()));
        std::ranges::transform(sums.calls, calls_, calls_.begin(), std::plus<>());
      }
    }
    records_.reset();
    walker_.reset();
  }

  FunctionCosts costs_of(uint32_t function, const std::string& key) const {
    FunctionCosts costs;
    costs.key = key;
    costs.intervals = latencies_.n;
    costs.mean_ns = static_cast<double>(latencies_.mean());
    std::map<uint32_t, CallCost> sites = sites_in(key);
    for (const auto& [entry, index] : index_) {
      if (entry.function != function) {
        continue;
      }
      const PlaceCost cost = cost_of(sums_[index]);
      switch (entry.what) {
        case Entry::What::kWhole:
          costs.whole = cost;
          break;
        case Entry::What::kOwn:
          costs.own = cost;
          break;
        case Entry::What::kSite:
          sites.try_emplace(entry.site, call_at(entry.site)).first->second.cost = cost;
          break;
        case Entry::What::kWait:
          costs.sites.emplace_back().callee = entry.name;
          costs.sites.back().cost = cost;
          break;
      }
    }
    for (auto& [site, cost] : sites) {
      costs.sites.push_back(std::move(cost));
    }
    std::ranges::stable_sort(costs.sites, std::less<>(), [](const CallCost& one) {
      return std::tuple(one.line == 0, one.line == 0 ? -one.cost.share : 0, one.file, one.line,
                        one.column);
    });
    costs.calls = calls_of(key);
    return costs;
  }

 private:
  /// A node counts once for all of the function, and once for its parts, even if others of them are
  /// within it, as where it calls itself, or waits for a lock while another thread is in it. So the
  /// parts add up.
  std::vector<size_t> entries_of(uint32_t node) {
    std::vector<size_t> entries;
    const PathNode& one = tree_.nodes()[node];
    if (node == PathTree::kRoot) {
      return entries;
    }
    if (one.kind == NodeKind::kFunction) {
      add_entry(one.ident, Entry::What::kWhole, node, entries);
    }
    const PathNode& parent = tree_.nodes()[one.parent];
    if (one.parent != PathTree::kRoot && parent.kind == NodeKind::kFunction) {
      add_entry(parent.ident,
                one.kind == NodeKind::kFunction ? Entry::What::kSite
                : one.kind == NodeKind::kBody   ? Entry::What::kOwn
                                                : Entry::What::kWait,
                node, entries);
    }
    return entries;
  }

  void add_entry(uint32_t function, Entry::What what, uint32_t node, std::vector<size_t>& entries) {
    const auto wanted = wanted_.find(function);
    if (wanted == wanted_.end()) {
      return;
    }
    const PathNode& one = tree_.nodes()[node];
    Entry entry{wanted->second, what, what == Entry::What::kSite ? one.site : 0,
                what == Entry::What::kWait ? tree_.name(one.ident) : ""};
    const auto [known, is_new] = index_.try_emplace(std::move(entry), sums_.size());
    if (is_new) {
      sums_.push_back({.function = wanted->second, .is_part = what != Entry::What::kWhole});
    }
    const EntrySums& this_one = sums_[known->second];
    const auto counts_already = [&](size_t other) {
      return sums_[other].function == this_one.function && sums_[other].is_part == this_one.is_part;
    };
    for (uint32_t above = one.parent; above != kNone; above = tree_.nodes()[above].parent) {
      if (std::ranges::any_of(entries_of_[above], counts_already)) {
        return;
      }
    }
    entries.push_back(known->second);
  }

  PlaceCost cost_of(const EntrySums& sums) const {
    PlaceCost cost;
    const auto n = static_cast<long double>(latencies_.n);
    cost.count = sums.all.count;
    cost.mean_ns = static_cast<double>(static_cast<long double>(sums.all.x) / n);
    cost.blame_mean_ns = static_cast<double>(static_cast<long double>(sums.blamed) / n);
    cost.stddev_ns =
        static_cast<double>(std::sqrt(variance(latencies_.n, sums.all.x, sums.all.xx)));
    const long double whole = latencies_.variance();
    if (whole > 0) {
      cost.share = static_cast<double>(
          covariance(latencies_.n, sums.all.x, latencies_.x, sums.all.xt) / whole);
    }
    return cost;
  }

  CallCost call_at(uint32_t number) const {
    CallCost call;
    const Site& site = sites_.sites[number];
    const Function& callee = sites_.functions[site.function];
    call.callee = callee.name;
    call.key = callee.key;
    if (site.parent == kNone) {
      return call;  // its entry is measured, not the call
    }
    const size_t colon = site.location.rfind(':');
    call.file = site.location.substr(0, colon);
    const auto number_at = [&](const std::string& text, size_t at, uint32_t& value) {
      std::from_chars(text.data() + at, text.data() + text.size(), value);
    };
    if (colon != std::string::npos) {
      number_at(site.location, colon + 1, call.line);
      number_at(site.position, site.location.size() + 1, call.column);
    }
    return call;
  }

  /// Every call site of the function, also those that were never passed.
  std::map<uint32_t, CallCost> sites_in(const std::string& key) const {
    std::map<uint32_t, CallCost> all;
    for (uint32_t number = 0; number < sites_.sites.size(); ++number) {
      const Site& site = sites_.sites[number];
      if (site.function == kNone || site.parent == kNone ||
          sites_.functions[site.parent].key != key) {
        continue;
      }
      CallCost& call = all.emplace(number, call_at(number)).first->second;
      call.calls = per_interval(number < calls_.size() ? calls_[number] : 0);
    }
    return all;
  }

  /// A call is recorded where it is made or at the entry; one of a function to itself is both.
  double calls_of(const std::string& key) const {
    const auto is_of = [&](uint32_t function) {
      return function != kNone && sites_.functions[function].key == key;
    };
    uint64_t sum = 0;
    for (uint32_t number = 0; number < std::min(sites_.sites.size(), calls_.size()); ++number) {
      const Site& site = sites_.sites[number];
      sum += is_of(site.function) && !is_of(site.parent) ? calls_[number] : 0;
    }
    return per_interval(sum);
  }

  double per_interval(uint64_t calls) const {
    return static_cast<double>(calls) / static_cast<double>(latencies_.n);
  }

  const Sites& sites_;
  PathTree tree_;
  NodeTimes times_;
  std::unique_ptr<PathWalker> walker_;    // of the slice that is read
  std::unique_ptr<RecordTally> records_;  // likewise
  std::vector<uint64_t> calls_;           // by site, of those that were read
  LatencySums latencies_;
  std::map<uint32_t, uint32_t> wanted_;  // function of sites.json: index into the keys
  std::map<Entry, size_t> index_;        // into sums_
  std::vector<EntrySums> sums_;
  std::vector<std::vector<size_t>> entries_of_;  // by node: indices into sums_
};

}  // namespace

Result<std::vector<FunctionCosts>> costs_of(const std::string& trace_dir,
                                            const std::string& sites_json,
                                            const std::vector<std::string>& keys,
                                            const Options& options, std::span<const Epoch> slices) {
  const auto sites = VPROF_TRY(read_sites(sites_json, options.interval));
  std::map<uint32_t, KindCosts> kinds;
  std::vector<std::string> labels;
  const auto add = [&](const Scanned& scanned) {
    labels = scanned.labels;
    for (const Interval& interval : scanned.intervals) {
      kinds.try_emplace(interval.kind, sites, keys).first->second.add(interval, scanned);
    }
  };
  Options one = options;
  for (const Epoch& slice : slices.empty() ? std::span(&options.epoch, 1) : slices) {
    one.epoch = slice;
    VPROF_TRY(scan(trace_dir, sites, one, add));
    for (auto& [kind, costs] : kinds) {
      costs.end_slice(labels);
    }
  }
  const auto largest =
      std::ranges::max_element(kinds, {}, [](const auto& kind) { return kind.second.count(); });
  if (largest == kinds.end()) {
    return fail(ErrorKind::kNoInterval, "{}: no completed interval{}", trace_dir,
                options.interval.empty() ? "" : " '" + options.interval + "'");
  }
  std::vector<FunctionCosts> all;
  for (uint32_t i = 0; i < keys.size(); ++i) {
    all.push_back(largest->second.costs_of(i, keys[i]));
    all.back().interval = sites.interval_name(largest->first);
  }
  return all;
}

}  // namespace vprof::analyzer
