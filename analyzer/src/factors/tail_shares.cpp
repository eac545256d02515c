#include "factors/tail_shares.h"

#include <algorithm>
#include <cmath>

namespace vprof::analyzer {
namespace {

constexpr double kTailQuantile = 0.99;  // tail shares are of the slowest 1 %
// With fewer intervals in the tail there is no telling how far chance goes.
constexpr uint64_t kFewestSlow = 10;
// The most that the width of a bin may change a tail share.
constexpr double kMostError = 0.05;

/// How many of `n` intervals are the tail.
uint64_t tail_count(uint64_t n) {
  const auto below =
      static_cast<uint64_t>(std::ceil(kTailQuantile * static_cast<double>(n) - 1e-9));
  return n - std::clamp<uint64_t>(below, 1, n) + 1;
}

/// The weight of each interval in the mean over the slowest `count` of those that `counts` admits,
/// slowest first. Those as slow as the last one share what is left.
template <class Counts>
std::vector<long double> tail_weights(const std::vector<const SampledInterval*>& intervals,
                                      uint64_t count, const Counts& counts) {
  std::vector<size_t> admitted;
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (counts(i)) {
      admitted.push_back(i);
    }
  }
  std::vector<long double> weights(intervals.size(), 0);
  if (admitted.empty()) {
    return weights;
  }
  const size_t last = std::min<size_t>(count, admitted.size()) - 1;
  const uint64_t bound = intervals[admitted[last]]->latency;
  size_t slower = 0;
  size_t equal = 0;
  for (const size_t i : admitted) {
    slower += intervals[i]->latency > bound ? 1 : 0;
    equal += intervals[i]->latency == bound ? 1 : 0;
  }
  for (const size_t i : admitted) {
    if (intervals[i]->latency >= bound) {
      const bool whole = intervals[i]->latency > bound;
      const long double part =
          whole ? 1 : static_cast<long double>(last + 1 - slower) / static_cast<long double>(equal);
      weights[i] = part / static_cast<long double>(last + 1);
    }
  }
  return weights;
}

uint32_t batch_of(const SampledInterval& interval, const std::vector<Batch>& batches) {
  uint32_t found = 0;
  for (uint32_t b = 0; b < batches.size(); ++b) {
    if (batches[b].run != interval.run) {
      continue;
    }
    found = b;
    if (interval.begin <= batches[b].sums.last_begin) {
      break;
    }
  }
  return found;
}

}  // namespace

TailShares::TailShares(const IntervalSums& sums, const BatchSums& total)
    : sums_(sums), total_(total), tail_mean_(sums.places.size(), 0) {
  const uint64_t count = total.n == 0 ? 0 : tail_count(total.n);
  if (count == 0) {
    return;
  }
  if (sums.sample.worst.kept().size() >= count) {
    from_intervals(count);
  } else {
    from_bins();
  }
}

double TailShares::of(uint32_t place) const {
  return known() ? static_cast<double>((tail_mean_[place] - mean(place)) / excess_) : 0;
}

long double TailShares::mean(uint32_t place) const {
  return static_cast<long double>(total_.node(place).x) / total_.n;
}

void TailShares::from_intervals(uint64_t count) {
  for (const auto& [key, interval] : sums_.sample.worst.kept()) {
    intervals_.push_back(&interval);
  }
  const std::vector<long double> weights =
      tail_weights(intervals_, count, [](size_t) { return true; });
  for (size_t i = 0; i < intervals_.size() && weights[i] > 0; ++i) {
    for (const auto& [leaf, ns] : intervals_[i]->leaves) {
      for (uint32_t place = leaf; place != kNoPlace; place = sums_.places[place].parent) {
        tail_mean_[place] += weights[i] * static_cast<long double>(ns);
      }
    }
  }
  excess_ = tail_mean_[0] - mean(0);
}

// The tail is all bins above the percentile, and as much of the bin that contains it as is left.
void TailShares::from_bins() {
  const Histogram::Tail tail = sums_.latencies.tail(kTailQuantile);
  for (uint32_t place = 0; place < std::min(sums_.tails.size(), sums_.places.size()); ++place) {
    long double x = 0;
    sums_.tails[place].for_each([&](uint32_t bin, UInt128 ns) {
      if (bin >= tail.first_whole) {
        x += static_cast<long double>(ns);
      } else if (bin + 1 == tail.first_whole) {
        x += tail.partial * static_cast<long double>(ns);
      }
    });
    tail_mean_[place] = x / static_cast<long double>(tail.count);
  }
  excess_ = tail_mean_[0] - mean(0);
  if (tail.partial <= 0) {
    return;
  }
  uint64_t in_bin = 0;
  uint64_t least = UINT64_MAX;
  uint64_t greatest = 0;
  for (const Histogram::Bucket& bucket : sums_.latencies.buckets()) {
    if (bucket.count != 0 && latency_bin(bucket.least) == tail.first_whole - 1) {
      in_bin += bucket.count;
      least = std::min(least, bucket.least);
      greatest = std::max(greatest, bucket.greatest);
    }
  }
  const long double from_bin = tail.partial * static_cast<long double>(in_bin) / tail.count;
  if (in_bin != 0 && from_bin * static_cast<long double>(greatest - least) > kMostError * excess_) {
    excess_ = 0;
  }
}

TailJackknife::TailJackknife(const TailShares* tail, const std::vector<Batch>& batches)
    : tail_(tail), batches_(batches) {
  if (tail == nullptr || !tail->known() || !tail->exact() || batches.size() < 2 ||
      tail_count(tail->total_.n) < kFewestSlow) {
    return;
  }
  std::vector<uint32_t> batch(tail->intervals_.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i] = batch_of(*tail->intervals_[i], batches);
  }
  const NodeSums latency = tail->total_.node(0);
  for (uint32_t b = 0; b < batches.size(); ++b) {
    const uint64_t n = tail->total_.n - batches[b].sums.n;
    std::vector<long double>& weights = weights_.emplace_back(
        tail_weights(tail->intervals_, tail_count(n), [&](size_t i) { return batch[i] != b; }));
    while (!weights.empty() && weights.back() == 0) {
      weights.pop_back();
    }
    slow_ = std::max(slow_, weights.size());
    long double tail_mean = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      tail_mean += weights[i] * static_cast<long double>(tail->intervals_[i]->latency);
    }
    excess_.push_back(tail_mean -
                      static_cast<long double>(latency.x - batches[b].sums.node(0).x) / n);
  }
}

double TailJackknife::least_error(long double residual_ns2, double added) const {
  const auto count = static_cast<long double>(tail_count(tail_->total_.n));
  const long double squared = added * residual_ns2 / (count * (count + added - 1));
  return static_cast<double>(std::sqrt(squared) / tail_->excess_);
}

std::vector<long double> TailJackknife::without_each(const std::vector<uint32_t>& places) const {
  if (excess_.empty() ||
      std::any_of(excess_.begin(), excess_.end(), [](auto e) { return e <= 0; })) {
    return {};
  }
  const std::vector<Place>& all = tail_->sums_.places;
  std::vector<bool> within(all.size(), false);
  UInt128 sum = 0;
  for (const uint32_t place : places) {
    within[place] = true;
    sum += tail_->total_.node(place).x;
  }
  for (uint32_t place = 1; place < all.size(); ++place) {  // parents come first
    within[place] = within[place] || within[all[place].parent];
  }
  std::vector<long double> times(slow_, 0);
  for (size_t i = 0; i < times.size(); ++i) {
    for (const auto& [leaf, ns] : tail_->intervals_[i]->leaves) {
      times[i] += within[leaf] ? static_cast<long double>(ns) : 0;
    }
  }
  std::vector<long double> without(batches_.size());
  for (size_t b = 0; b < batches_.size(); ++b) {
    UInt128 rest = sum;
    for (const uint32_t place : places) {
      rest -= batches_[b].sums.node(place).x;
    }
    long double x = -static_cast<long double>(rest) / (tail_->total_.n - batches_[b].sums.n);
    for (size_t i = 0; i < weights_[b].size(); ++i) {
      x += weights_[b][i] * times[i];
    }
    without[b] = x / excess_[b];
  }
  return without;
}

}  // namespace vprof::analyzer
