#include "statistics/interval_sample.h"

#include <algorithm>
#include <utility>

namespace vprof::analyzer {
namespace {

IntervalSample::Key key_of(uint64_t first, const SampledInterval& interval) {
  return {first, interval.key, interval.begin, interval.run};
}

constexpr auto kSmaller = [](const auto& a, const auto& b) { return a.first < b.first; };

}  // namespace

void IntervalSample::Smallest::add(const Key& key, SampledInterval interval) {
  if (key >= bound_) {
    return;
  }
  leaves_ += interval.leaves.size();
  kept_.emplace_back(key, std::move(interval));
  settled_ = false;
  if (leaves_ >= 2 * kMostLeaves) {
    settle();
  } else if (kept_.size() >= 2 * most_) {
    std::nth_element(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(most_), kept_.end(),
                     kSmaller);
    drop_from(most_);
  }
}

// `other` may have gathered more than it may keep: all that it dropped is beyond its bound.
void IntervalSample::Smallest::add_all(Smallest other, const std::vector<uint32_t>& to,
                                       std::optional<int64_t> run) {
  Key bound = other.bound_;
  if (run && bound != Smallest(0).bound_) {
    std::get<3>(bound) = *run;
  }
  for (auto& [key, interval] : other.kept_) {
    interval.run = run.value_or(interval.run);
    for (auto& [place, ns] : interval.leaves) {
      place = to[place];
    }
    // The order in which the places were found differs.
    std::sort(interval.leaves.begin(), interval.leaves.end());
    kept_.emplace_back(key_of(std::get<0>(key), interval), std::move(interval));
  }
  cut(bound);
}

void IntervalSample::Smallest::cut(const Key& bound) {
  bound_ = std::min(bound_, bound);
  std::erase_if(kept_, [&](const auto& one) { return one.first >= bound_; });
  settle();
}

// The first one at `index` and beyond that does not fit becomes the bound.
void IntervalSample::Smallest::drop_from(size_t index) {
  bound_ = kept_[index].first;
  for (size_t i = index; i < kept_.size(); ++i) {
    spare_.push_back(std::move(kept_[i].second.leaves));
  }
  kept_.resize(index);
  leaves_ = 0;
  for (const auto& [key, interval] : kept_) {
    leaves_ += interval.leaves.size();
  }
}

void IntervalSample::Smallest::settle() {
  std::sort(kept_.begin(), kept_.end(), kSmaller);
  kept_.erase(std::unique(kept_.begin(), kept_.end(),
                          [](const auto& a, const auto& b) { return a.first == b.first; }),
              kept_.end());
  leaves_ = 0;
  for (size_t i = 0; i < kept_.size(); ++i) {
    leaves_ += kept_[i].second.leaves.size();
    if (i >= most_ || (leaves_ > kMostLeaves && i > 0)) {
      drop_from(i);
      break;
    }
  }
  settled_ = true;
}

void IntervalSample::add(uint64_t hash, SampledInterval interval) {
  const Key by_latency = key_of(~interval.latency, interval);
  if (!sampled.wants(hash)) {
    worst.add(by_latency, std::move(interval));
    return;
  }
  if (worst.wants(std::get<0>(by_latency))) {
    worst.add(by_latency, interval);
  }
  const Key by_hash = key_of(hash, interval);
  sampled.add(by_hash, std::move(interval));
}

SampledInterval::Leaves IntervalSample::recycled() {
  SampledInterval::Leaves leaves;
  std::vector<SampledInterval::Leaves>& spare = (worst.spare_.empty() ? sampled : worst).spare_;
  if (!spare.empty()) {
    leaves = std::move(spare.back());
    spare.pop_back();
    leaves.clear();
  }
  return leaves;
}

void IntervalSample::add(IntervalSample other, const std::vector<uint32_t>& to,
                         std::optional<int64_t> run) {
  sampled.add_all(std::move(other.sampled), to, run);
  worst.add_all(std::move(other.worst), to, run);
}

}  // namespace vprof::analyzer
