#include "vprof/analyzer/details.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "factors/factor_selection.h"
#include "factors/latency_bins.h"
#include "factors/latency_summary.h"
#include "factors/variance_tree.h"
#include "profile/profile_file.h"

namespace vprof::analyzer {
namespace {

std::vector<LatencyBin> bins_of(const Histogram& latencies) {
  std::vector<LatencyBin> bins;
  for (const Histogram::Bucket& bucket : latencies.buckets()) {
    if (bucket.count == 0) {
      continue;
    }
    const LatencyBin own = bin_of(latency_bin(bucket.least), bucket.count);
    if (!bins.empty() && bins.back().from_ns == own.from_ns) {
      bins.back().count += bucket.count;
    } else {
      bins.push_back(own);
    }
  }
  return bins;
}

double standard_deviation(const LatencySums& sums) {
  return std::sqrt(std::max(0.0, static_cast<double>(sums.variance())));
}

std::vector<LabelLatencies> labels_of(const IntervalSums& sums) {
  std::vector<LabelLatencies> labels;
  for (const auto& [label, own] : sums.labels) {
    LabelLatencies& one = labels.emplace_back();
    one.label = label;
    one.count = own.n;
    one.mean_ns = static_cast<double>(own.mean());
    one.stddev_ns = standard_deviation(own);
    const auto bins = sums.label_bins.find(label);
    if (bins == sums.label_bins.end()) {
      continue;
    }
    one.bins = label_bins_of(bins->second);
    one.p50_ns = quantile_of(one.bins, one.count, 0.50);
    one.p95_ns = quantile_of(one.bins, one.count, 0.95);
    one.p99_ns = quantile_of(one.bins, one.count, 0.99);
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  return labels;
}

std::vector<Period> periods_of(const IntervalSums& sums) {
  std::vector<Period> periods;
  for (const Batch& batch : sums.batches) {
    const NodeSums root = batch.sums.node(0);
    const LatencySums latencies{batch.sums.n, root.x, root.xx};
    Period& period = periods.emplace_back();
    period.run = batch.run;
    period.from_ns = batch.sums.first_begin;
    period.to_ns = batch.sums.last_begin;
    period.count = batch.sums.n;
    period.mean_ns = static_cast<double>(latencies.mean());
    period.stddev_ns = standard_deviation(latencies);
  }
  return periods;
}

/// Numbers the nodes of the tree in pre-order, as readers of Profile::tree count them.
class PreOrder {
 public:
  PreOrder(const VarianceTree& tree, const std::vector<Place>& places)
      : tree_(tree), of_place_(places.size(), kNoPlace), parents_(tree.nodes.size()) {
    std::vector<std::pair<uint32_t, uint32_t>> open = {{0, 0}};  // node, number of its parent
    while (!open.empty()) {
      const auto [node, parent] = open.back();
      open.pop_back();
      const auto number = static_cast<uint32_t>(order_.size());
      order_.push_back(node);
      parents_[number] = parent;
      of_place_[tree.nodes[node].place] = number;
      const std::vector<uint32_t>& children = tree.nodes[node].children;
      for (size_t i = children.size(); i-- > 0;) {
        open.emplace_back(children[i], number);
      }
    }
    // The time of a place that the tree leaves out belongs to its parent, which comes before it.
    for (uint32_t place = 1; place < of_place_.size(); ++place) {
      if (of_place_[place] == kNoPlace) {
        of_place_[place] = of_place_[places[place].parent];
      }
    }
  }

  std::vector<NodeFacts> facts() const {
    std::vector<NodeFacts> all;
    for (const uint32_t index : order_) {
      const TreeNode& node = tree_.nodes[index];
      all.push_back({node.factor, node.definition, node.height, node.expandable, node.expanded});
    }
    return all;
  }

  IntervalDetail detail(const SampledInterval& interval) const {
    IntervalDetail detail{static_cast<uint64_t>(interval.id),
                          interval.key,
                          interval.run,
                          interval.begin,
                          interval.latency,
                          interval.label,
                          {},
                          interval.trace};
    std::map<uint32_t, uint64_t> times;
    for (const auto& [place, ns] : interval.leaves) {
      for (uint32_t node = of_place_[place];; node = parents_[node]) {
        times[node] += ns;
        if (node == 0) {
          break;
        }
      }
    }
    for (const auto& [node, ns] : times) {
      detail.times.push_back({node, ns});
    }
    return detail;
  }

 private:
  const VarianceTree& tree_;
  std::vector<uint32_t> of_place_;  // by place: number of its node
  std::vector<uint32_t> parents_;   // by number: number of the parent
  std::vector<uint32_t> order_;     // by number: index into VarianceTree::nodes
};

}  // namespace

Result<Details> details_of(const std::string& profile) {
  const auto sums = VPROF_TRY(from_bytes(profile));
  const VarianceTree tree = build_variance_tree(sums);
  const PreOrder pre_order(tree, sums.places);
  Details details;
  details.interval = sums.interval;
  details.count = sums.count();
  details.graph_height = graph_height(tree);
  details.bins = bins_of(sums.latencies);
  details.labels = labels_of(sums);
  details.periods = periods_of(sums);
  details.nodes = pre_order.facts();
  for (const auto& [key, one] : sums.sample.sampled.kept()) {
    details.sampled.push_back(pre_order.detail(one));
  }
  std::sort(details.sampled.begin(), details.sampled.end(), [](const auto& a, const auto& b) {
    return std::tie(a.run, a.begin_ns, a.id) < std::tie(b.run, b.begin_ns, b.id);
  });
  for (const auto& [key, one] : sums.sample.worst.kept()) {
    if (details.worst.size() == IntervalSample::kWorst) {
      break;
    }
    details.worst.push_back(pre_order.detail(one));
  }
  return details;
}

}  // namespace vprof::analyzer
