// Interval sums of simulated intervals, whose truth is known, without a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/kinds_of_time.h"
#include "factors/factor_selection.h"
#include "factors/latency_summary.h"
#include "factors/tail_shares.h"
#include "factors/variance_tree.h"
#include "statistics/interval_sums.h"

namespace vprof::test {

/// A tree of places, and the sums over intervals that are given by the times of its leaves.
class SimulatedSums {
 public:
  /// `expected`: about how many intervals there will be.
  explicit SimulatedSums(uint64_t expected) {
    sums.interval = "request";
    sums.places.emplace_back();
    children_.emplace_back();
    while (expected >> shift_ >= analyzer::kMostBatches) {
      ++shift_;
    }
  }

  uint32_t place(uint32_t parent, const std::string& name,
                 analyzer::NodeKind kind = analyzer::NodeKind::kFunction) {
    analyzer::Place one;
    one.kind = kind;
    one.parent = parent;
    one.rank = static_cast<uint32_t>(children_[parent].size());
    one.name = kind == analyzer::NodeKind::kBody ? "" : name;
    one.key = kind == analyzer::NodeKind::kFunction ? name : "";
    const auto number = static_cast<uint32_t>(sums.places.size());
    children_[parent].push_back(number);
    children_.emplace_back();
    sums.places.push_back(one);
    return number;
  }

  /// Recording has paused before the next interval.
  void begin_slice() { ++slice_; }

  /// An interval. `leaves`: place and ns.
  void add(const std::vector<std::pair<uint32_t, uint64_t>>& leaves,
           const std::string& label = "") {
    const uint64_t number = count_++;
    if (number >> shift_ >= sums.batches.size()) {
      analyzer::Batch& made = sums.batches.emplace_back();
      made.order = sums.batches.size();
      made.slice = slice_;
    }
    analyzer::BatchSums& batch = sums.batches.back().sums;
    times_.assign(sums.places.size(), 0);
    for (const auto& [leaf, ns] : leaves) {
      for (uint32_t p = leaf; p != analyzer::kNoPlace;
           p = p == 0 ? analyzer::kNoPlace : sums.places[p].parent) {
        times_[p] += ns;
      }
    }
    const uint64_t latency = times_[0];
    ++batch.n;
    batch.first_begin = std::min(batch.first_begin, static_cast<int64_t>(number));
    batch.last_begin = std::max(batch.last_begin, static_cast<int64_t>(number));
    sums.latencies.add(latency);
    sums.labels[label].add(latency);
    ++sums.label_bins[label][analyzer::latency_bin(latency)];
    sums.tails.resize(sums.places.size());
    for (uint32_t p = 0; p < times_.size(); ++p) {
      if (times_[p] == 0) {
        continue;
      }
      batch.add_node(p, times_[p], latency);
      sums.tails[p].add(analyzer::latency_bin(latency), times_[p]);
      add_others(p, batch);
      const uint32_t parent = sums.places[p].parent;
      for (const uint32_t other : p == 0 ? std::vector<uint32_t>() : children_[parent]) {
        if (other < p && times_[other] != 0) {
          batch.add_product(p, sums.places[other].rank,
                            static_cast<analyzer::UInt128>(times_[p]) * times_[other]);
        }
      }
    }
    analyzer::SampledInterval interval;
    interval.latency = latency;
    interval.id = number;
    interval.begin = static_cast<int64_t>(number);
    if (sums.sample.worst.wants(~latency)) {
      for (const auto& leaf : leaves) {
        if (leaf.second != 0) {
          interval.leaves.push_back(leaf);
        }
      }
      sums.sample.worst.add({~latency, number, interval.begin, 0}, interval);
    }
  }

  analyzer::Profile profile(const analyzer::Options& options = {}) {
    sums.sample.worst.settle();
    analyzer::Profile made;
    const analyzer::VarianceTree tree = build_variance_tree(sums);
    const analyzer::BatchSums total = sums.total();
    const analyzer::TailShares tail(sums, total);
    made.interval = summarize(sums);
    made.kinds = kinds_of_time(tree, analyzer::Jackknife(tree, sums.batches, nullptr));
    made.factors = rank_factors(tree, sums.batches, {}, options, &tail);
    made.tree = nested_tree(tree);
    return made;
  }

  analyzer::IntervalSums sums;

 private:
  bool outermost(uint32_t place) const {
    const std::string& name = sums.places[place].name;
    for (uint32_t p = sums.places[place].parent; p != 0 && p != analyzer::kNoPlace;
         p = sums.places[p].parent) {
      if (sums.places[p].name == name) {
        return false;
      }
    }
    return place != 0 && !name.empty();
  }

  void add_others(uint32_t place, analyzer::BatchSums& batch) const {
    if (!outermost(place)) {
      return;
    }
    uint64_t others = 0;
    for (uint32_t p = 1; p < times_.size(); ++p) {
      if (p != place && sums.places[p].name == sums.places[place].name && outermost(p)) {
        others += times_[p];
      }
    }
    if (others != 0) {
      batch.add_others(place, static_cast<analyzer::UInt128>(times_[place]) * others);
    }
  }

  std::vector<std::vector<uint32_t>> children_;
  std::vector<uint64_t> times_;
  uint64_t count_ = 0;
  int64_t slice_ = 0;
  unsigned shift_ = 0;
};

/// The factor of this function, or of these two; null if it is not listed.
inline const analyzer::Factor* listed_factor(const analyzer::Profile& profile,
                                             const std::vector<std::string>& functions) {
  for (const analyzer::Factor& factor : profile.factors) {
    if (factor.functions == functions) {
      return &factor;
    }
  }
  return nullptr;
}

}  // namespace vprof::test
