#include "statistics/moments.h"

#include <algorithm>

namespace vprof::analyzer {

// With the integers mx = floor(mean x) and my = floor(mean y),
//
//   Σ(x - mx)(y - my) = Σxy - my Σx - mx Σy + n mx my
//
// is an integer that fits into 128 bits, although its terms may not. They are added modulo 2^128,
// so the result is exact. The fractions of the means, below 1 ns each, are subtracted in floating
// point, where nothing cancels any more.
long double covariance(uint64_t n, UInt128 sum_x, UInt128 sum_y, UInt128 sum_xy) {
  if (n == 0) {
    return 0;
  }
  const UInt128 mx = sum_x / n;
  const UInt128 my = sum_y / n;
  const auto centred = static_cast<Int128>(sum_xy - my * sum_x - mx * sum_y + mx * my * n);
  const auto rest_x = static_cast<long double>(static_cast<uint64_t>(sum_x % n)) / n;
  const auto rest_y = static_cast<long double>(static_cast<uint64_t>(sum_y % n)) / n;
  return static_cast<long double>(centred) / n - rest_x * rest_y;
}

LatencySums& LatencySums::operator+=(const LatencySums& other) {
  n += other.n;
  x += other.x;
  xx += other.xx;
  return *this;
}

NodeSums& NodeSums::operator+=(const NodeSums& other) {
  x += other.x;
  xx += other.xx;
  xt += other.xt;
  count += other.count;
  return *this;
}

NodeSums& NodeSums::operator-=(const NodeSums& other) {
  x -= other.x;
  xx -= other.xx;
  xt -= other.xt;
  count -= other.count;
  return *this;
}

void BatchSums::make_room(uint32_t later, uint32_t rank) {
  if (rows.size() <= later) {
    rows.resize(later + 1);
  }
  if (rows[later].size() <= rank) {
    rows[later].resize(rank + 1);
  }
}

BatchSums& BatchSums::operator+=(const BatchSums& other) {
  n += other.n;
  first_begin = std::min(first_begin, other.first_begin);
  last_begin = std::max(last_begin, other.last_begin);
  if (nodes.size() < other.nodes.size()) {
    nodes.resize(other.nodes.size());
  }
  for (size_t i = 0; i < other.nodes.size(); ++i) {
    nodes[i] += other.nodes[i];
  }
  for (uint32_t i = 0; i < other.others.size(); ++i) {
    if (other.others[i] != 0) {
      add_others(i, other.others[i]);
    }
  }
  if (rows.size() < other.rows.size()) {
    rows.resize(other.rows.size());
  }
  for (size_t i = 0; i < other.rows.size(); ++i) {
    std::vector<UInt128>& row = rows[i];
    const std::vector<UInt128>& more = other.rows[i];
    if (row.size() < more.size()) {
      row.resize(more.size());
    }
    for (size_t j = 0; j < more.size(); ++j) {
      row[j] += more[j];
    }
  }
  return *this;
}

void TailSums::add_outside(uint32_t bin, UInt128 ns) {
  if (list_.empty()) {
    const auto used =
        array_.size() - static_cast<size_t>(std::count(array_.begin(), array_.end(), 0));
    const size_t range = bin < first_ ? array_.size() + first_ - bin : bin - first_ + 1;
    if (used == 0 || used > kFew || range <= kFew) {
      make_room(bin);
      array_[bin - first_] += ns;
      return;
    }
    for_each([&](uint32_t one, UInt128 sum) { list_.push_back({one, sum}); });
    array_ = {};
  }
  add_to_list(bin, ns);
}

void TailSums::add_to_list(uint32_t bin, UInt128 ns) {
  const auto at = std::lower_bound(list_.begin(), list_.end(), bin,
                                   [](const Bin& one, uint32_t other) { return one.bin < other; });
  if (at != list_.end() && at->bin == bin) {
    at->ns += ns;
    return;
  }
  list_.insert(at, {bin, ns});
  if (list_.size() > kFew) {
    first_ = list_.front().bin;
    array_.resize(list_.back().bin - first_ + 1);
    for (const Bin& one : list_) {
      array_[one.bin - first_] = one.ns;
    }
    list_ = {};
  }
}

void TailSums::make_room(uint32_t bin) {
  if (array_.empty()) {
    first_ = bin;
  } else if (bin < first_) {
    array_.insert(array_.begin(), first_ - bin, 0);
    first_ = bin;
  }
  array_.resize(std::max<size_t>(array_.size(), bin - first_ + 1));
}

}  // namespace vprof::analyzer
