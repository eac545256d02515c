#include "analysis/collector.h"

#include <fmt/format.h>

namespace vprof::analyzer {
namespace {

constexpr size_t kPortion = 64;  // most intervals walked at a time

Place place_of(const PathNode& node, const PathTree& tree, const Sites& sites) {
  Place place;
  place.kind = node.kind;
  place.blamed = node.blamed;
  if (node.kind == NodeKind::kFunction) {
    const Function& function = sites.functions[node.ident];
    const Site& site = sites.sites[node.site];
    place.name = function.name;
    place.key = function.key;
    place.where = site.location;
    place.site = site.source_line;
    place.height = function.height;
    place.expandable = function.expandable;
    place.expanded = function.expanded;
    if (!function.file.empty()) {
      place.definition = fmt::format("{}:{}", function.file, function.line);
    }
  } else if (node.kind != NodeKind::kBody) {
    place.name = tree.name(node.ident);
  }
  return place;
}

}  // namespace

const std::vector<NodeTimes::Time>& NodeTimes::of(const std::vector<LeafTime>& leaves,
                                                  const PathTree& tree) {
  const std::vector<PathNode>& nodes = tree.nodes();
  times_.clear();
  if (at_.size() < nodes.size()) {
    at_.resize(nodes.size(), 0);
    first_child_.resize(nodes.size(), kNone);
  }
  chains_.clear();
  for (const LeafTime& leaf : leaves) {
    const auto begin = static_cast<uint32_t>(times_.size());
    uint64_t ns = static_cast<uint64_t>(leaf.ns);
    uint32_t node = leaf.node;
    for (; node != kNone && at_[node] == 0; node = nodes[node].parent) {
      const auto index = static_cast<uint32_t>(times_.size());
      const uint32_t parent = nodes[node].parent;
      const uint32_t sibling = parent == kNone ? kNone : std::exchange(first_child_[parent], index);
      times_.push_back({node, sibling, std::exchange(ns, 0)});
      at_[node] = index + 1;
    }
    chains_.push_back({begin, node == kNone ? kNone : at_[node] - 1});
  }
  // Of the last chain nothing is missing any more; then of the one before.
  for (auto end = static_cast<uint32_t>(times_.size()); !chains_.empty(); chains_.pop_back()) {
    const auto [begin, into] = chains_.back();
    uint64_t ns = 0;
    for (uint32_t i = begin; i < end; ++i) {
      ns = times_[i].ns += ns;
    }
    if (into != kNone) {
      times_[into].ns += ns;
    }
    end = begin;
  }
  for (const Time& time : times_) {
    at_[time.node] = 0;
    first_child_[time.node] = kNone;
  }
  return times_;
}

Collector::Collector(const Window& window, const Sites& sites, const WakeUpEdges& edges,
                     int64_t start)
    : tree_(sites), walker_(window, sites, edges, tree_), start_(start) {}

void Collector::keep(const Interval& interval, uint64_t hash, const std::vector<LeafTime>& leaves,
                     const std::string& label) {
  SampledInterval kept;
  kept.latency = static_cast<uint64_t>(interval.latency());
  kept.id = interval.id;
  kept.label = label;
  kept.begin = interval.begin - start_;
  for (const LeafTime& leaf : leaves) {
    if (leaf.ns != 0) {
      kept.leaves.emplace_back(leaf.node, static_cast<uint64_t>(leaf.ns));
    }
  }
  intervals_.add(hash, kept);
}

void Collector::add(const Interval& interval, uint64_t batch, const std::string& label) {
  const auto latency = static_cast<uint64_t>(interval.latency());
  const uint32_t bin = latency_bin(latency);
  const std::vector<LeafTime>& leaves = walker_.walk(interval);
  const std::vector<NodeTimes::Time>& times = times_.of(leaves, tree_);
  const std::vector<PathNode>& nodes = tree_.nodes();
  if (tails_.size() < nodes.size()) {
    tails_.resize(nodes.size());
    samples_.resize(nodes.size());
  }
  Sample sample{0, latency, interval.id, interval.begin};
  const uint64_t hash = sample_hash(sample);
  if (intervals_.wants(hash, latency)) {
    keep(interval, hash, leaves, label);
  }
  BatchSums& sums = batches_[batch];
  ++sums.n;
  sums.from = std::min(sums.from, interval.begin - start_);
  sums.to = std::max(sums.to, interval.begin - start_);
  uint64_t total = 0;
  if (interval.label < kMostLabels || interval.work != 0) {
    add_explained(interval, times);
  }
  for (const NodeTimes::Time& time : times) {
    if (time.node == PathTree::kRoot) {
      total = time.ns;
    }
    sums.add_node(time.node, time.ns, latency);
    tails_[time.node].add(bin, time.ns);
    sample.ns = time.ns;
    samples_[time.node].add(sample, hash);
    for (uint32_t other = time.sibling; other != kNone; other = times[other].sibling) {
      const uint32_t a = times[other].node;
      const UInt128 product = static_cast<UInt128>(time.ns) * times[other].ns;
      if (nodes[a].rank < nodes[time.node].rank) {
        sums.add_product(time.node, nodes[a].rank, product);
      } else {
        sums.add_product(a, nodes[time.node].rank, product);
      }
    }
  }
  if (total != latency) {
    ++violations_;
  }
}

void Collector::add_explained(const Interval& interval, const std::vector<NodeTimes::Time>& times) {
  const size_t nodes = tree_.nodes().size();
  if (interval.label < kMostLabels) {
    if (by_label_.size() <= interval.label) {
      by_label_.resize(interval.label + 1);
    }
    std::vector<UInt128>& of_label = by_label_[interval.label];
    if (of_label.size() < nodes) {
      of_label.resize(nodes);
    }
    for (const NodeTimes::Time& time : times) {
      of_label[time.node] += time.ns;
    }
  }
  if (interval.work == 0) {
    return;
  }
  ++explain_.declared;
  explain_.w += interval.work;
  explain_.ww += static_cast<UInt128>(interval.work) * interval.work;
  if (explain_.xw.size() < nodes) {
    explain_.xw.resize(nodes);
  }
  for (const NodeTimes::Time& time : times) {
    explain_.xw[time.node] += static_cast<UInt128>(time.ns) * interval.work;
  }
}

void Collector::halve_batches() {
  std::map<uint64_t, BatchSums> halved;
  for (auto& [number, sums] : batches_) {
    const auto [entry, is_new] = halved.try_emplace(number >> 1, std::move(sums));
    if (!is_new) {
      entry->second += sums;
    }
  }
  batches_ = std::move(halved);
}

void Collector::give(AccountSum& sum, const Sites& sites, int64_t run,
                     const std::vector<std::string>& labels) const {
  const std::vector<PathNode>& nodes = tree_.nodes();
  std::vector<uint32_t> to(nodes.size(), 0);
  std::vector<std::vector<uint32_t>> children(nodes.size());
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    to[i] = sum.place(to[nodes[i].parent], place_of(nodes[i], tree_, sites));
    children[nodes[i].parent].push_back(i);  // in order of rank: both are that of making
  }
  for (const auto& [number, sums] : batches_) {
    sum.add(sums, children, to, run, UINT64_MAX - number);  // counted from the end
  }
  for (uint32_t i = 0; i < tails_.size(); ++i) {
    sum.add(tails_[i], to[i]);
  }
  for (uint32_t i = 0; i < samples_.size(); ++i) {
    sum.add(samples_[i], to[i]);
  }
  sum.add(intervals_, to, run);
  ExplainSums explain = explain_;
  for (uint32_t label = 0; label < by_label_.size(); ++label) {
    if (!by_label_[label].empty()) {
      explain.by_label[labels[label]] = by_label_[label];
    }
  }
  sum.rest().explain.add(explain, to);
}

KindCollector::KindCollector(uint32_t kind, const Window& window, const Sites& sites,
                             const WakeUpEdges& edges, WorkerPool& pool, int64_t start)
    : kind_(kind), sites_(sites), pool_(pool) {
  for (unsigned i = 0; i < pool.size(); ++i) {
    collectors_.push_back(std::make_unique<Collector>(window, sites, edges, start));
  }
}

void KindCollector::add(const std::vector<const Interval*>& intervals,
                        const std::vector<std::string>& labels) {
  for (const Interval* interval : intervals) {
    const auto latency = static_cast<uint64_t>(interval->latency());
    latencies_.add(latency);
    if (by_label_.size() <= interval->label) {
      by_label_.resize(labels.size());
    }
    Label& label = by_label_[interval->label];
    ++label.sums.n;
    label.sums.x += latency;
    label.sums.xx += static_cast<UInt128>(latency) * latency;
    ++label.bins[latency_bin(latency)];
    newest_ = std::max(newest_, interval->number);
  }
  label_names_ = labels;
  for (; newest_ >> shift_ >= kMostBatches; ++shift_) {
    for (auto& collector : collectors_) {
      collector->halve_batches();
    }
  }
  // Intervals of many records are few at a time, and there must be work for all.
  const size_t some = std::clamp<size_t>(intervals.size() / (8 * collectors_.size()), 1, kPortion);
  const size_t portions = (intervals.size() + some - 1) / some;
  pool_.each(portions, [&](size_t portion, unsigned worker) {
    const size_t end = std::min(intervals.size(), (portion + 1) * some);
    for (size_t i = portion * some; i < end; ++i) {
      const Interval& interval = *intervals[i];
      collectors_[worker]->add(interval, interval.number >> shift_, labels[interval.label]);
    }
  });
}

Account KindCollector::finish(int64_t run) {
  AccountSum sum;
  uint64_t violations = 0;
  for (auto& collector : collectors_) {
    collector->give(sum, sites_, run, label_names_);
    Losses& losses = sum.rest().losses;
    losses.exact_edges += collector->edges().exact;
    losses.inferred_edges += collector->edges().inferred;
    losses.outside_waits += collector->edges().outside;
    losses.unmatched_waits += collector->edges().unknown;
    violations += collector->violations();
    collector.reset();
  }
  Account account = sum.finish();
  account.interval = sites_.interval_name(kind_);
  account.root_height = sites_.root_height;
  account.latencies = std::move(latencies_);
  for (uint32_t label = 0; label < by_label_.size(); ++label) {
    if (by_label_[label].sums.n == 0) {
      continue;
    }
    account.labels[label_names_[label]] = by_label_[label].sums;
    account.label_bins[label_names_[label]] = std::move(by_label_[label].bins);
  }
  if (violations != 0) {
    account.losses.notes.push_back(fmt::format(
        "{} intervals do not add up to their latency: please report this defect", violations));
  }
  return account;
}

}  // namespace vprof::analyzer
