#include "statistics/interval_sample.h"

#include <algorithm>
#include <iterator>

namespace vprof::analyzer {
namespace {

IntervalSample::Key key_of(uint64_t first, const SampledInterval& interval) {
  return {first, interval.key, interval.begin, interval.run};
}

}  // namespace

void IntervalSample::Smallest::add(const Key& key, const SampledInterval& interval) {
  if (key >= bound_ || !kept_.emplace(key, interval).second) {
    return;
  }
  leaves_ += interval.leaves.size();
  while (kept_.size() > most_ || (leaves_ > kMostLeaves && kept_.size() > 1)) {
    const Key last = std::prev(kept_.end())->first;
    cut(last);
  }
}

void IntervalSample::Smallest::cut(const Key& bound) {
  if (bound >= bound_) {
    return;
  }
  bound_ = bound;
  for (auto at = kept_.lower_bound(bound); at != kept_.end(); at = kept_.erase(at)) {
    leaves_ -= at->second.leaves.size();
  }
}

void IntervalSample::add(uint64_t hash, const SampledInterval& interval) {
  sampled.add(key_of(hash, interval), interval);
  worst.add(key_of(~interval.latency, interval), interval);
}

void IntervalSample::add(const IntervalSample& other, const std::vector<uint32_t>& to,
                         std::optional<int64_t> run) {
  const auto add_all = [&](Smallest& into, const Smallest& from) {
    Key bound = from.bound();
    if (run && bound != Smallest(0).bound()) {
      std::get<3>(bound) = *run;
    }
    into.cut(bound);
    for (const auto& [key, interval] : from.kept()) {
      SampledInterval moved = interval;
      if (run) {
        moved.run = *run;
      }
      for (auto& [place, ns] : moved.leaves) {
        place = to[place];
      }
      std::sort(moved.leaves.begin(),
                moved.leaves.end());  // the order in which they were found differs
      into.add(key_of(std::get<0>(key), moved), moved);
    }
  };
  add_all(sampled, other.sampled);
  add_all(worst, other.worst);
}

}  // namespace vprof::analyzer
