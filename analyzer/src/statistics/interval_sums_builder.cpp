#include "statistics/interval_sums_builder.h"

#include <algorithm>
#include <tuple>

namespace vprof::analyzer {
namespace {

template <class T>
T& at_index(std::vector<T>& list, uint32_t index) {
  if (list.size() <= index) {
    list.resize(index + 1);
  }
  return list[index];
}

void add_overhead(Overhead& to, const Overhead& more) {
  to.records += more.records;
  to.waits += more.waits;
  to.dropped += more.dropped;
  to.chunks += more.chunks;
  to.stalls += more.stalls;
  to.record_ns = std::max(to.record_ns, more.record_ns);
  to.processor_ns += more.processor_ns;
  to.helper_ns += more.helper_ns;
  to.process_ns += more.process_ns;
  to.calls_ns += more.calls_ns;
  to.timed_calls += more.timed_calls;
  if (std::tie(more.thread_records, more.thread) > std::tie(to.thread_records, to.thread)) {
    to.thread = more.thread;
    to.thread_records = more.thread_records;
    to.thread_ns = more.thread_ns;
    to.thread_passed_ns = more.thread_passed_ns;
  }
}

/// The sums of a batch after place i became place `to[i]`. `ranks`: of the new places.
BatchSums renumbered(const BatchSums& from, const std::vector<std::vector<uint32_t>>& children,
                     const std::vector<uint32_t>& to, const std::vector<uint32_t>& ranks) {
  BatchSums result;
  result.n = from.n;
  result.first_begin = from.first_begin;
  result.last_begin = from.last_begin;
  result.nodes.reserve(from.nodes.size());
  for (uint32_t i = 0; i < from.nodes.size(); ++i) {
    if (from.nodes[i].count != 0) {
      at_index(result.nodes, to[i]) += from.nodes[i];
    }
  }
  for (uint32_t i = 0; i < from.others.size(); ++i) {
    if (from.others[i] != 0) {
      result.add_others(to[i], from.others[i]);
    }
  }
  for (const std::vector<uint32_t>& siblings : children) {
    for (uint32_t rank = 1; rank < siblings.size(); ++rank) {
      if (siblings[rank] >= from.rows.size()) {
        continue;
      }
      const std::vector<UInt128>& row = from.rows[siblings[rank]];
      for (uint32_t other = 0; other < row.size(); ++other) {
        if (row[other] == 0) {
          continue;
        }
        uint32_t a = to[siblings[other]];
        uint32_t b = to[siblings[rank]];
        if (ranks[a] > ranks[b]) {
          std::swap(a, b);
        }
        result.add_product(b, ranks[a], row[other]);
      }
    }
  }
  return result;
}

}  // namespace

void IntervalSumsBuilder::join(Batch&& batch) {
  const auto [entry, is_new] = batches_.try_emplace({batch.run, batch.order}, std::move(batch));
  if (!is_new) {
    Batch& joined = entry->second;
    joined.slice = std::min(joined.slice, batch.slice);
    joined.sums += batch.sums;
  }
}

void IntervalSumsBuilder::add(const Batch& batch,
                              const std::vector<std::vector<uint32_t>>& children,
                              const std::vector<uint32_t>& to) {
  std::vector<uint32_t> ranks;
  ranks.reserve(places());
  for (const Place& place : places_.places()) {
    ranks.push_back(place.rank);
  }
  join({batch.run, batch.order, batch.slice, renumbered(batch.sums, children, to, ranks)});
}

void IntervalSumsBuilder::halve_batches() {
  for (auto& [key, batch] : std::exchange(batches_, {})) {
    batch.order = UINT64_MAX - (UINT64_MAX - batch.order) / 2;
    join(std::move(batch));
  }
}

void IntervalSumsBuilder::add(const TailSums& tail, uint32_t place) {
  TailSums& to = at_index(sum_.tails, place);
  tail.for_each([&](uint32_t bin, UInt128 ns) { to.add(bin, ns); });
}

void IntervalSumsBuilder::add(const PlaceExemplars& exemplars, uint32_t place) {
  at_index(sum_.exemplars, place) += exemplars;
}

void IntervalSumsBuilder::add(const CovariateSums& covariates, const std::vector<uint32_t>& to) {
  sum_.covariates.add(covariates, to);
}

void IntervalSumsBuilder::add(IntervalSample sample, const std::vector<uint32_t>& to,
                              std::optional<int64_t> run) {
  sum_.sample.add(std::move(sample), to, run);
}

void IntervalSumsBuilder::add(const Losses& losses) { sum_.losses += losses; }

void IntervalSumsBuilder::add(const IntervalSums& sums) {
  std::vector<uint32_t> to(sums.places.size(), 0);
  for (uint32_t i = 1; i < sums.places.size(); ++i) {
    to[i] = place(to[sums.places[i].parent], sums.places[i]);
  }
  const auto children = children_of(sums.places);
  for (const Batch& batch : sums.batches) {
    add(batch, children, to);
  }
  for (uint32_t i = 0; i < sums.tails.size(); ++i) {
    add(sums.tails[i], to[i]);
  }
  for (uint32_t i = 0; i < sums.exemplars.size(); ++i) {
    add(sums.exemplars[i], to[i]);
  }
  add(sums.sample, to);
  add(sums.covariates, to);
  sum_.interval = sums.interval;
  sum_.incomplete += sums.incomplete;
  sum_.others_known = sum_.others_known && sums.others_known;
  sum_.root_height = std::max(sum_.root_height, sums.root_height);
  sum_.latencies += sums.latencies;
  sum_.loop_queue += sums.loop_queue;
  for (const auto& [label, latencies] : sums.labels) {
    sum_.labels[label] += latencies;
  }
  for (const auto& [label, bins] : sums.label_bins) {
    for (const auto& [bin, count] : bins) {
      sum_.label_bins[label][bin] += count;
    }
  }
  sum_.records += sums.records;
  add(sums.losses);
  add_overhead(sum_.overhead, sums.overhead);
}

IntervalSums IntervalSumsBuilder::finish() {
  sum_.places = std::move(places_.places());
  const std::vector<uint32_t> order = canonical_order(sum_.places);
  std::vector<uint32_t> to(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    to[order[i]] = i;
  }
  const auto children = children_of(sum_.places);
  const auto by_new_number = [&](auto& list) {
    std::remove_reference_t<decltype(list)> moved(order.size());
    for (uint32_t i = 0; i < list.size(); ++i) {
      moved[to[i]] = std::move(list[i]);
    }
    list = std::move(moved);
  };
  by_new_number(sum_.places);
  by_new_number(sum_.tails);
  by_new_number(sum_.exemplars);
  std::vector<uint32_t> ranks(order.size(), 0);
  std::vector<uint32_t> next_rank(order.size(), 0);
  for (uint32_t i = 1; i < order.size(); ++i) {
    Place& place = sum_.places[i];
    place.parent = to[place.parent];
    ranks[i] = place.rank = next_rank[place.parent]++;
  }
  // One batch at a time: together they are most of the memory that the analysis takes.
  for (auto it = batches_.begin(); it != batches_.end(); it = batches_.erase(it)) {
    Batch& batch = it->second;
    batch.sums = renumbered(batch.sums, children, to, ranks);
    sum_.batches.push_back(std::move(batch));
  }
  sum_.sample.add(std::exchange(sum_.sample, {}), to);
  const CovariateSums covariates = std::exchange(sum_.covariates, {});
  sum_.covariates.add(covariates, to);
  return std::move(sum_);
}

}  // namespace vprof::analyzer
