#include "analysis/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "vprof/support/text.h"

namespace vprof::analyzer {
namespace {

constexpr size_t kMostAtOnce = 64;  // intervals that a collector takes at a time

// Memory of a place, with its tail and exemplars, and of its sums in one batch, with room to grow.
constexpr uint64_t kBytesOfPlace = 2048;
constexpr uint64_t kBytesOfSums = 192;

/// The jackknife uses no more.
constexpr uint64_t kEnoughBatches = 16;

/// Half of the memory is for one collector.
uint64_t most_batches(uint64_t memory, uint64_t places) {
  return std::clamp(memory / 2 / kBytesOfSums / places, kEnoughBatches, kMostBatches);
}

}  // namespace

Place place_of(const PathNode& node, const PathTree& tree, const Sites& sites) {
  Place place;
  place.kind = node.kind;
  place.blamed = node.blamed;
  if (node.kind == NodeKind::kFunction) {
    const Function& function = sites.functions[node.ident];
    const Site& site = sites.sites[node.site];
    place.name = function.name;
    place.key = function.key;
    place.position = site.position;
    place.location = site.location;
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

Collector::Collector(const Window& window, const Sites& sites, const WakeUpEdges& edges,
                     int64_t start)
    : tree_(sites),
      walker_(window, sites, edges, tree_),
      records_(window, sites.sites.size()),
      start_(start) {}

void Collector::add_to_sample(const Interval& interval, uint64_t hash,
                              const std::vector<LeafTime>& leaves, const std::string& label) {
  SampledInterval kept;
  kept.latency = static_cast<uint64_t>(interval.latency());
  kept.key = interval.key;
  kept.id = interval.id;
  kept.label = label;
  kept.trace = interval.trace;
  kept.begin = interval.begin - start_;
  kept.leaves = sample_.recycled();
  kept.leaves.reserve(leaves.size());
  for (const LeafTime& leaf : leaves) {
    if (leaf.ns != 0) {
      kept.leaves.emplace_back(leaf.node, static_cast<uint64_t>(leaf.ns));
    }
  }
  sample_.add(hash, std::move(kept));
}

// Finds the function of each new node. An instance within another one of its function has its time
// already and gets none.
void Collector::add_functions() {
  const std::vector<PathNode>& nodes = tree_.nodes();
  const auto identity = [&](uint32_t node) {
    const PathNode& one = nodes[node];
    const bool body = one.kind == NodeKind::kBody;
    const uint32_t number = body ? one.parent : node;
    const PathNode& named = nodes[number];
    const uint32_t kind = static_cast<uint32_t>(named.kind) * 2 + (body ? 1 : 0);
    return std::pair(kind, number == PathTree::kRoot ? kNone : named.ident);  // it is no function
  };
  const auto first_new = static_cast<uint32_t>(nodes_.size());
  nodes_.resize(nodes.size());
  for (uint32_t i = first_new; i < nodes.size(); ++i) {
    const auto own = identity(i);
    bool nested = i == PathTree::kRoot;
    for (uint32_t above = nodes[i].parent; above != kNone && !nested; above = nodes[above].parent) {
      nested = above != PathTree::kRoot && identity(above) == own;
    }
    if (nested) {
      continue;
    }
    const auto [entry, is_new] =
        function_ids_.try_emplace(own, static_cast<uint32_t>(functions_.size()));
    const uint32_t function = entry->second;
    if (is_new) {
      functions_.push_back({i});
    } else {
      nodes_[functions_[function].first].shared_function = nodes_[i].shared_function = function;
    }
  }
}

void Collector::add(Interval& interval, uint64_t batch, const std::string& label) {
  const std::vector<LeafTime>& leaves = walker_.walk(interval);
  interval.set_up = walker_.set_up();
  losses_.set_up_ns += static_cast<uint64_t>(interval.set_up);
  losses_.set_up_intervals += interval.set_up != 0 ? 1 : 0;
  records_.add(interval);
  const auto latency = static_cast<uint64_t>(interval.latency());
  const uint32_t bin = latency_bin(latency);
  const Times times = times_.add_up(leaves, tree_);
  if (nodes_.size() < tree_.nodes().size()) {
    add_functions();
  }
  ++interval_;
  shared_times_.clear();
  PlaceExemplar exemplar{0, latency, interval.key, interval.id, interval.trace};
  const uint64_t hash = interval_hash(interval.key, interval.id);
  if (sample_.wants(hash, latency)) {
    add_to_sample(interval, hash, leaves, label);
  }
  if (latest_ == nullptr || latest_batch_ != batch) {
    latest_ = &batches_[batch];
    latest_batch_ = batch;
  }
  BatchSums& sums = *latest_;
  ++sums.n;
  sums.first_begin = std::min(sums.first_begin, interval.begin - start_);
  sums.last_begin = std::max(sums.last_begin, interval.begin - start_);
  uint64_t total = 0;
  Node* const nodes = nodes_.data();
  for (const NodeTimes::Time& time : times) {
    if (time.node == PathTree::kRoot) {
      total = time.ns;
    }
    sums.add_node(time.node, time.ns, latency);
    Node& node = nodes[time.node];
    node.tail.add(bin, time.ns);
    if (node.shared_function != kNone) {
      Function& function = functions_[node.shared_function];
      function.ns = time.ns + (function.interval == interval_ ? function.ns : 0);
      function.interval = interval_;
      shared_times_.push_back(time);
    }
    exemplar.ns = time.ns;
    node.exemplars.add(exemplar, hash);
  }
  add_products(sums, times);
  for (const NodeTimes::Time& time : shared_times_) {
    const uint64_t others = functions_[nodes[time.node].shared_function].ns - time.ns;
    if (others != 0) {
      sums.add_others(time.node, static_cast<UInt128>(time.ns) * others);
    }
  }
  if (interval.label != 0 || interval.work != 0) {
    add_covariates(interval, times);
  }
  if (total != latency) {
    ++losses_.violations;
  }
}

Losses Collector::losses() const {
  const EdgeCounts& edges = walker_.edges();
  Losses losses = losses_;
  losses.exact_edges = edges.exact;
  losses.inferred_edges = edges.inferred;
  losses.outside_waits = edges.outside;
  losses.unknown_waits = edges.unknown;
  return losses;
}

void Collector::add_products(BatchSums& sums, Times times) const {
  const PathNode* const nodes = tree_.nodes().data();
  for (const NodeTimes::Time& time : times) {
    const uint32_t rank = nodes[time.node].rank;
    for (uint32_t i = time.sibling; i != kNone; i = times[i].sibling) {
      const NodeTimes::Time& other = times[i];
      const uint32_t other_rank = nodes[other.node].rank;
      sums.add_product(other_rank < rank ? time.node : other.node, std::min(rank, other_rank),
                       static_cast<UInt128>(time.ns) * other.ns);
    }
  }
}

void Collector::add_covariates(const Interval& interval, Times times) {
  const size_t nodes = tree_.nodes().size();
  if (interval.label != 0) {
    const size_t label = std::min<size_t>(interval.label, kMostLabels);
    if (by_label_.size() <= label) {
      by_label_.resize(label + 1);
    }
    std::vector<UInt128>& of_label = by_label_[label];
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
  ++covariates_.declared;
  covariates_.w += interval.work;
  covariates_.ww += static_cast<UInt128>(interval.work) * interval.work;
  if (covariates_.xw.size() < nodes) {
    covariates_.xw.resize(nodes);
  }
  for (const NodeTimes::Time& time : times) {
    covariates_.xw[time.node] += static_cast<UInt128>(time.ns) * interval.work;
  }
}

/// Σx by node over the intervals of label 0: all without those of other labels. Empty: there are
/// none.
std::vector<UInt128> Collector::times_of_first_label() const {
  std::vector<UInt128> times(nodes_.size());
  for (const auto& [number, sums] : batches_) {
    for (size_t node = 0; node < sums.nodes.size(); ++node) {
      times[node] += sums.nodes[node].x;
    }
  }
  for (const std::vector<UInt128>& of_label : by_label_) {
    for (size_t node = 0; node < of_label.size(); ++node) {
      times[node] -= of_label[node];
    }
  }
  if (std::all_of(times.begin(), times.end(), [](UInt128 ns) { return ns == 0; })) {
    times.clear();
  }
  return times;
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
  latest_ = nullptr;
}

uint64_t Collector::bytes() const {
  return places() * (kBytesOfPlace + batches_.size() * kBytesOfSums);
}

std::vector<uint32_t> Collector::add_places_to(IntervalSumsBuilder& builder,
                                               const Sites& sites) const {
  const std::vector<PathNode>& nodes = tree_.nodes();
  std::vector<uint32_t> to(nodes.size(), 0);
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    to[i] = builder.place(to[nodes[i].parent], place_of(nodes[i], tree_, sites));
  }
  return to;
}

void Collector::move_to(IntervalSumsBuilder& builder, const Sites& sites, int64_t run,
                        const std::vector<std::string>& labels) {
  const std::vector<uint32_t> to = add_places_to(builder, sites);
  const std::vector<PathNode>& nodes = tree_.nodes();
  std::vector<std::vector<uint32_t>> children(nodes.size());
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    children[nodes[i].parent].push_back(i);  // by rank: siblings are numbered as they are added
  }
  std::vector<UInt128> of_first_label = times_of_first_label();
  by_label_.resize(std::clamp<size_t>(by_label_.size(), 1, kMostLabels));
  by_label_[0] = std::move(of_first_label);
  for (auto it = batches_.begin(); it != batches_.end(); it = batches_.erase(it)) {
    auto& [number, sums] = *it;  // number 0 is the latest
    builder.add({.run = run, .order = UINT64_MAX - number, .sums = std::move(sums)}, children, to);
  }
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    Node node = std::exchange(nodes_[i], {});
    builder.add(node.tail, to[i]);
    builder.add(node.exemplars, to[i]);
  }
  builder.add(std::exchange(sample_, {}), to, run);
  CovariateSums covariates = covariates_;
  for (uint32_t label = 0; label < by_label_.size(); ++label) {
    if (!by_label_[label].empty()) {
      covariates.by_label[labels[label]] = by_label_[label];
    }
  }
  builder.add(covariates, to);
}

KindCollector::KindCollector(uint32_t kind, const Window& window, const Sites& sites,
                             const WakeUpEdges& edges, WorkerPool& pool, int64_t run, int64_t start,
                             uint64_t memory)
    : kind_(kind), sites_(sites), pool_(pool), run_(run), memory_(memory) {
  for (unsigned i = 0; i < pool.size(); ++i) {
    collectors_.push_back(std::make_unique<Collector>(window, sites, edges, start));
  }
}

void KindCollector::add(const std::vector<Interval*>& intervals,
                        const std::vector<std::string>& labels) {
  for (const Interval* interval : intervals) {
    newest_ = std::max(newest_, interval->number);
  }
  label_names_ = labels;
  size_t places = builder_.places();
  for (const auto& collector : collectors_) {
    places = std::max(places, collector->places());
  }
  keep_batches(places);
  keep_collectors();
  // Windows of long intervals hold only a few of them, and every collector should get some.
  const size_t some =
      std::clamp<size_t>(intervals.size() / (8 * collectors_.size()), 1, kMostAtOnce);
  std::atomic<size_t> next = 0;
  pool_.each(collectors_.size(), [&](size_t collector, unsigned) {
    for (size_t begin = next.fetch_add(some); begin < intervals.size();
         begin = next.fetch_add(some)) {
      const size_t end = std::min(intervals.size(), begin + some);
      for (size_t i = begin; i < end; ++i) {
        Interval& interval = *intervals[i];
        collectors_[collector]->add(interval, interval.number >> shift_, labels[interval.label]);
      }
    }
  });
  for (const Interval* interval : intervals) {
    const auto latency = static_cast<uint64_t>(interval->latency());
    latencies_.add(latency);
    if (interval->queued != kNoTime) {
      loop_queue_.add(static_cast<uint64_t>(interval->queued), latency);
    }
    if (by_label_.size() <= interval->label) {
      by_label_.resize(labels.size());
    }
    LabelLatencySums& label = by_label_[interval->label];
    label.sums.add(latency);
    const uint32_t bin = latency_bin(latency);
    if (label.bins.size() <= bin) {
      label.bins.resize(bin + 1);
    }
    ++label.bins[bin];
  }
}

/// Joins batches until they are few enough for a tree of that size.
void KindCollector::keep_batches(size_t places) {
  for (; newest_ >> shift_ >= most_batches(memory_, places); ++shift_) {
    for (auto& collector : collectors_) {
      collector->halve_batches();
    }
    builder_.halve_batches();
  }
}

/// Halves the number of collectors until they fit into memory, since each holds nearly all places.
void KindCollector::keep_collectors() {
  const auto bytes = [&] {
    return std::accumulate(collectors_.begin(), collectors_.end(), uint64_t{0},
                           [](uint64_t sum, const auto& one) { return sum + one->bytes(); });
  };
  while (collectors_.size() > 1 && bytes() > memory_) {
    for (size_t left = collectors_.size() / 2; collectors_.size() > left;) {
      close_last();
    }
  }
}

void KindCollector::close_last() {
  Collector& collector = *collectors_.back();
  collector.move_to(builder_, sites_, run_, label_names_);
  builder_.add(collector.losses());
  records_ += collector.records().sums(label_names_);
  collectors_.pop_back();
}

IntervalSums KindCollector::finish() {
  // The number of batches follows from all places, not from how they are spread over collectors.
  for (const auto& collector : collectors_) {
    collector->add_places_to(builder_, sites_);
  }
  keep_batches(builder_.places());
  while (!collectors_.empty()) {
    close_last();
  }
  IntervalSums sums = builder_.finish();
  sums.interval = sites_.interval_name(kind_);
  sums.root_height = sites_.root_height;
  sums.batch_shift = shift_;
  sums.latencies = std::move(latencies_);
  sums.loop_queue = std::move(loop_queue_);
  sums.records = std::move(records_);
  for (uint32_t label = 0; label < by_label_.size(); ++label) {
    if (by_label_[label].sums.n == 0) {
      continue;
    }
    const auto& [of_label, bins] = by_label_[label];
    sums.labels[label_names_[label]] = of_label;
    for (uint32_t bin = 0; bin < bins.size(); ++bin) {
      if (bins[bin] != 0) {
        sums.label_bins[label_names_[label]][bin] = bins[bin];
      }
    }
  }
  return sums;
}

}  // namespace vprof::analyzer
