#include "moments.h"

#include <algorithm>
#include <map>

namespace vprof::analyzer {

// With the integers mx = floor(mean x), my = floor(mean y):
//
//   Σ(x - mx)(y - my) = Σxy - my Σx - mx Σy + n mx my
//
// is an integer that fits into 128 bits, though its terms may not: they are added modulo 2^128, and
// the result is exact. What is left of the means, below 1 ns each, is subtracted in floating point,
// where nothing cancels any more.
long double covariance(uint64_t n, UInt128 sum_x, UInt128 sum_y, UInt128 sum_xy) {
  if (n == 0) return 0;
  const UInt128 mx = sum_x / n;
  const UInt128 my = sum_y / n;
  const auto centred = static_cast<Int128>(sum_xy - my * sum_x - mx * sum_y + mx * my * n);
  const auto rest_x = static_cast<long double>(static_cast<uint64_t>(sum_x % n)) / n;
  const auto rest_y = static_cast<long double>(static_cast<uint64_t>(sum_y % n)) / n;
  return static_cast<long double>(centred) / n - rest_x * rest_y;
}

NodeSums& NodeSums::operator+=(const NodeSums& other) {
  x += other.x;
  xx += other.xx;
  xt += other.xt;
  tail += other.tail;
  count += other.count;
  return *this;
}

NodeSums& NodeSums::operator-=(const NodeSums& other) {
  x -= other.x;
  xx -= other.xx;
  xt -= other.xt;
  tail -= other.tail;
  count -= other.count;
  return *this;
}

UInt128 BatchSums::pair(uint32_t a, uint32_t b) const {
  const auto found =
      std::lower_bound(pairs.begin(), pairs.end(), std::pair(a, b),
                       [](const PairSum& p, auto key) { return std::pair(p.a, p.b) < key; });
  return found != pairs.end() && found->a == a && found->b == b ? found->xy : 0;
}

void Moments::add(const std::vector<Time>& times, uint64_t latency, bool in_tail) {
  ++current_.n;
  current_.tail_n += in_tail ? 1 : 0;
  for (size_t i = 0; i < times.size(); ++i) {
    const Time& time = times[i];
    if (current_.nodes.size() <= time.node) current_.nodes.resize(time.node + 1);
    NodeSums& sums = current_.nodes[time.node];
    const UInt128 x = time.ns;
    sums.x += x;
    sums.xx += x * x;
    sums.xt += x * latency;
    if (in_tail) sums.tail += x;
    ++sums.count;
    for (size_t j = i + 1; j < times.size() && times[j].parent == time.parent; ++j) {
      pairs_[static_cast<uint64_t>(time.node) << 32 | times[j].node] += x * times[j].ns;
    }
  }
}

void Moments::end_batch() {
  current_.pairs.reserve(pairs_.size());
  for (const auto& [key, xy] : pairs_) {
    current_.pairs.push_back({static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key), xy});
  }
  std::sort(current_.pairs.begin(), current_.pairs.end(), [](const PairSum& p, const PairSum& q) {
    return std::pair(p.a, p.b) < std::pair(q.a, q.b);
  });
  pairs_.clear();
  batches_.push_back(std::move(current_));
  current_ = {};
}

BatchSums Moments::total() const {
  BatchSums sum;
  std::map<std::pair<uint32_t, uint32_t>, UInt128> pairs;
  for (const BatchSums& batch : batches_) {
    sum.n += batch.n;
    sum.tail_n += batch.tail_n;
    if (sum.nodes.size() < batch.nodes.size()) sum.nodes.resize(batch.nodes.size());
    for (size_t i = 0; i < batch.nodes.size(); ++i) sum.nodes[i] += batch.nodes[i];
    for (const PairSum& pair : batch.pairs) pairs[{pair.a, pair.b}] += pair.xy;
  }
  for (const auto& [key, xy] : pairs) sum.pairs.push_back({key.first, key.second, xy});
  return sum;
}

}  // namespace vprof::analyzer
