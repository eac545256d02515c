#include "statistics/interval_sums.h"

#include <algorithm>
#include <set>

namespace vprof::analyzer {
namespace {

template <class T, class Before>
void insert_bounded(std::vector<T>& list, const T& entry, size_t limit, const Before& before) {
  if (list.size() == limit && !before(entry, list.back())) {
    return;
  }
  list.insert(std::upper_bound(list.begin(), list.end(), entry, before), entry);
  if (list.size() > limit) {
    list.pop_back();
  }
}

const auto longer = [](const Sample& a, const Sample& b) { return b < a; };

template <class T>
T& at_index(std::vector<T>& list, uint32_t index) {
  if (list.size() <= index) {
    list.resize(index + 1);
  }
  return list[index];
}

void add_losses(Losses& to, const Losses& more) {
  to.dropped += more.dropped;
  to.torn += more.torn;
  to.unreadable_bytes += more.unreadable_bytes;
  to.outside_waits += more.outside_waits;
  to.unmatched_waits += more.unmatched_waits;
  to.inferred_edges += more.inferred_edges;
  to.exact_edges += more.exact_edges;
  std::set<std::string> notes(to.notes.begin(), to.notes.end());
  notes.insert(more.notes.begin(), more.notes.end());
  to.notes.assign(notes.begin(), notes.end());
}

void add_overhead(Overhead& to, const Overhead& more) {
  to.records += more.records;
  to.dropped += more.dropped;
  to.chunks += more.chunks;
  to.stalls += more.stalls;
  to.record_ns = std::max(to.record_ns, more.record_ns);
}

/// New numbers of places: parents before children, siblings in order of their identity.
std::vector<uint32_t> ordered_places(const std::vector<Place>& places) {
  std::vector<std::vector<uint32_t>> children(places.size());
  for (uint32_t i = 1; i < places.size(); ++i) {
    children[places[i].parent].push_back(i);
  }
  std::vector<uint32_t> order = {0};
  for (size_t i = 0; i < order.size(); ++i) {  // grows as it goes
    std::vector<uint32_t>& own = children[order[i]];
    std::sort(own.begin(), own.end(), [&](uint32_t a, uint32_t b) {
      const auto key = [](const Place& p) { return std::tie(p.kind, p.name, p.key, p.where); };
      return key(places[a]) < key(places[b]);
    });
    order.insert(order.end(), own.begin(), own.end());
  }
  return order;
}

/// Sums of places that moved to other numbers.
BatchSums moved(const BatchSums& from, const std::vector<std::vector<uint32_t>>& children,
                const std::vector<uint32_t>& to, const std::vector<uint32_t>& rank_of) {
  BatchSums result;
  result.n = from.n;
  result.from = from.from;
  result.to = from.to;
  result.nodes.reserve(from.nodes.size());
  for (uint32_t i = 0; i < from.nodes.size(); ++i) {
    if (from.nodes[i].count != 0) {
      at_index(result.nodes, to[i]) += from.nodes[i];
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
        if (rank_of[a] > rank_of[b]) {
          std::swap(a, b);
        }
        result.add_product(b, rank_of[a], row[other]);
      }
    }
  }
  return result;
}

}  // namespace

uint64_t sample_hash(const Sample& sample) {
  uint64_t h = sample.id * 0x9e3779b97f4a7c15ull ^ static_cast<uint64_t>(sample.begin);
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

void Samples::add_worst(const Sample& sample) { insert_bounded(worst, sample, kWorst, longer); }

void Samples::add_sampled(const Sample& sample, uint64_t hash) {
  insert_bounded(sampled, std::pair(hash, sample), kSampled, std::less<>());
}

Samples& Samples::operator+=(const Samples& other) {
  for (const Sample& sample : other.worst) {
    insert_bounded(worst, sample, kWorst, longer);
  }
  for (const auto& entry : other.sampled) {
    insert_bounded(sampled, entry, kSampled, std::less<>());
  }
  return *this;
}

BatchSums Account::total() const {
  BatchSums sum;
  for (const Batch& batch : batches) {
    sum += batch.sums;
  }
  return sum;
}

std::vector<std::vector<uint32_t>> children_of(const std::vector<Place>& places) {
  std::vector<std::vector<uint32_t>> children(places.size());
  for (uint32_t i = 1; i < places.size(); ++i) {
    at_index(children[places[i].parent], places[i].rank) = i;
  }
  return children;
}

AccountSum::AccountSum() {
  sum_.places.emplace_back();
  ranks_ = {0};
}

uint32_t AccountSum::place(uint32_t parent, const Place& place) {
  const auto [entry, is_new] = index_.try_emplace(
      Identity(parent, static_cast<uint8_t>(place.kind), place.name, place.key, place.where),
      static_cast<uint32_t>(sum_.places.size()));
  if (is_new) {
    Place& made = sum_.places.emplace_back(place);
    made.parent = parent;
    made.rank = ranks_[parent]++;
    ranks_.push_back(0);
  } else {
    // A function that one analysis knew less of.
    Place& known = sum_.places[entry->second];
    known.height = std::max(known.height, place.height);
    known.expanded = known.expanded || place.expanded;
    known.expandable = known.expandable || place.expandable;
  }
  return entry->second;
}

void AccountSum::add(const BatchSums& sums, const std::vector<std::vector<uint32_t>>& children,
                     const std::vector<uint32_t>& to, int64_t run, uint64_t order) {
  std::vector<uint32_t> ranks(sum_.places.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[i] = sum_.places[i].rank;
  }
  batches_[{run, order}] += moved(sums, children, to, ranks);
}

void AccountSum::add(const TailSums& tail, uint32_t place) {
  TailSums& to = at_index(sum_.tails, place);
  for (uint32_t i = 0; i < tail.x.size(); ++i) {
    if (tail.x[i] != 0) {
      to.add(tail.first + i, tail.x[i]);
    }
  }
}

void AccountSum::add(const Samples& samples, uint32_t place) {
  at_index(sum_.samples, place) += samples;
}

void AccountSum::add(const IntervalSample& intervals, const std::vector<uint32_t>& to,
                     std::optional<int64_t> run) {
  sum_.intervals.add(intervals, to, run);
}

void AccountSum::add(const Account& account) {
  std::vector<uint32_t> to(account.places.size(), 0);
  for (uint32_t i = 1; i < account.places.size(); ++i) {
    to[i] = place(to[account.places[i].parent], account.places[i]);
  }
  const auto children = children_of(account.places);
  for (const Batch& batch : account.batches) {
    add(batch.sums, children, to, batch.run, batch.order);
  }
  for (uint32_t i = 0; i < account.tails.size(); ++i) {
    add(account.tails[i], to[i]);
  }
  for (uint32_t i = 0; i < account.samples.size(); ++i) {
    add(account.samples[i], to[i]);
  }
  add(account.intervals, to);
  for (const auto& [label, bins] : account.label_bins) {
    for (const auto& [bin, count] : bins) {
      sum_.label_bins[label][bin] += count;
    }
  }
  sum_.interval = account.interval;
  sum_.incomplete += account.incomplete;
  sum_.root_height = std::max(sum_.root_height, account.root_height);
  sum_.latencies += account.latencies;
  for (const auto& [label, more] : account.labels) {
    LabelSums& label_sums = sum_.labels[label];
    label_sums.n += more.n;
    label_sums.x += more.x;
    label_sums.xx += more.xx;
  }
  sum_.explain.add(account.explain, to);
  add_losses(sum_.losses, account.losses);
  add_overhead(sum_.overhead, account.overhead);
}

Account AccountSum::finish() {
  const std::vector<uint32_t> order = ordered_places(sum_.places);
  std::vector<uint32_t> to(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    to[order[i]] = i;
  }
  Account result;
  std::vector<uint32_t> next_rank(order.size(), 0);
  std::vector<uint32_t> ranks(order.size(), 0);
  for (uint32_t i = 0; i < order.size(); ++i) {
    Place& place = result.places.emplace_back(sum_.places[order[i]]);
    if (i == 0) {
      continue;
    }
    place.parent = to[place.parent];
    ranks[i] = place.rank = next_rank[place.parent]++;
  }
  const auto children = children_of(sum_.places);
  // One at a time, since all of them are most of what the analysis holds.
  for (auto it = batches_.begin(); it != batches_.end(); it = batches_.erase(it)) {
    const auto& [key, sums] = *it;
    result.batches.push_back({key.first, key.second, moved(sums, children, to, ranks)});
  }
  result.tails.resize(order.size());
  result.samples.resize(order.size());
  for (uint32_t i = 0; i < sum_.tails.size(); ++i) {
    result.tails[to[i]] = sum_.tails[i];
  }
  for (uint32_t i = 0; i < sum_.samples.size(); ++i) {
    result.samples[to[i]] = sum_.samples[i];
  }
  result.interval = sum_.interval;
  result.incomplete = sum_.incomplete;
  result.root_height = sum_.root_height;
  result.latencies = sum_.latencies;
  result.labels = sum_.labels;
  result.label_bins = sum_.label_bins;
  result.intervals.add(sum_.intervals, to);
  result.explain.add(sum_.explain, to);
  result.losses = sum_.losses;
  result.overhead = sum_.overhead;
  return result;
}

}  // namespace vprof::analyzer
