// Exact sums over semantic intervals, and the variances and covariances that follow from them
// (dissertation 2.3.2.1, equation 2.2).
//
// Times are integers, so sums of their products are integers, and 128 bits hold them. Adding is
// therefore associative and rounds nothing: the result depends neither on the order of the
// intervals nor on how they are split into batches or spread over threads. Welford's floating-point
// moments are stable, but have neither property. docs/analysis.md bounds the magnitudes.
//
// Letters, here and in all of `statistics` and `factors`:
//
//   x, y   time of one node of the tree in one interval, ns; 0 where the node has no time
//   t      latency of that interval, ns
//   w      amount of work that the program declared for it, in units
//   n      number of intervals; the divisor of every variance and covariance
//   xx, xt, xy, ...   sums of products: Σx², Σxt, Σxy, ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace vprof::analyzer {

using UInt128 = unsigned __int128;
using Int128 = __int128;

/// Σ(x - mean(x))(y - mean(y)) / n from the sums over n intervals, ns²; 0 if n is 0. Exact up to
/// the last division.
long double covariance(uint64_t n, UInt128 sum_x, UInt128 sum_y, UInt128 sum_xy);
inline long double variance(uint64_t n, UInt128 sum_x, UInt128 sum_xx) {
  return covariance(n, sum_x, sum_x, sum_xx);
}

/// Sums over the latencies of some intervals.
struct LatencySums {
  uint64_t n = 0;
  UInt128 x = 0, xx = 0;

  void add(uint64_t latency_ns) {
    ++n;
    x += latency_ns;
    xx += static_cast<UInt128>(latency_ns) * latency_ns;
  }
  LatencySums& operator+=(const LatencySums& other);

  /// ns. Needs n > 0.
  long double mean() const { return static_cast<long double>(x) / static_cast<long double>(n); }
  /// ns²
  long double variance() const { return analyzer::variance(n, x, xx); }
};

/// Sums of one node over the intervals of a batch. Intervals without time in the node add nothing.
struct NodeSums {
  UInt128 x = 0, xx = 0, xt = 0;
  /// Intervals in which the node had time.
  uint64_t count = 0;

  /// Adds an interval in which the node took `ns`.
  void add(uint64_t ns, uint64_t latency_ns) {
    const UInt128 wide = ns;
    x += wide;
    xx += wide * ns;
    xt += wide * latency_ns;
    ++count;
  }
  NodeSums& operator+=(const NodeSums& other);
  NodeSums& operator-=(const NodeSums& other);
};

/// Sums of all nodes over the intervals of a batch, by the node's number. `nodes` and `rows` are
/// only as long as needed: missing entries are 0.
struct BatchSums {
  uint64_t n = 0;
  /// When the first and the last of the intervals began, ns since the recording began.
  int64_t first_begin = INT64_MAX, last_begin = INT64_MIN;
  std::vector<NodeSums> nodes;
  /// Σxy of siblings a and b with rank(a) < rank(b) is `rows[b][rank(a)]`. A rank is a node's index
  /// among its siblings.
  std::vector<std::vector<UInt128>> rows;
  /// Σ x (X - x) for the outermost instances of a function, where X is the time of the function:
  /// the sum over all its outermost instances. With Σxx this adds up to ΣX². 0 where a function has
  /// one outermost instance. (An instance inside another one of its function has its time already.)
  std::vector<UInt128> others;

  NodeSums node(uint32_t id) const { return id < nodes.size() ? nodes[id] : NodeSums(); }
  UInt128 product(uint32_t later, uint32_t rank) const {
    return later < rows.size() && rank < rows[later].size() ? rows[later][rank] : 0;
  }
  UInt128 with_others(uint32_t id) const { return id < others.size() ? others[id] : 0; }
  void add_node(uint32_t id, uint64_t ns, uint64_t latency_ns) {
    if (nodes.size() <= id) {
      nodes.resize(id + 1);
    }
    nodes[id].add(ns, latency_ns);
  }
  void add_product(uint32_t later, uint32_t rank, UInt128 xy) {
    if (later >= rows.size() || rank >= rows[later].size()) {
      make_room(later, rank);
    }
    rows[later][rank] += xy;
  }
  void add_others(uint32_t id, UInt128 product) {
    if (others.size() <= id) {
      others.resize(id + 1);
    }
    others[id] += product;
  }
  BatchSums& operator+=(const BatchSums& other);

 private:
  void make_room(uint32_t later, uint32_t rank);
};

/// Time of one node by the latency of the interval, in bins of latency_bin(). The tail beyond any
/// percentile is a sum of these.
///
/// Most nodes of a large tree have time in few bins, which may lie far apart. These are a sorted
/// list; bins that are many or close together are an array.
class TailSums {
 public:
  void add(uint32_t bin, UInt128 ns) {
    if (bin - first_ < array_.size()) {  // wraps below first_
      array_[bin - first_] += ns;
    } else {
      add_outside(bin, ns);
    }
  }
  /// Calls `visit(bin, ns)` for each bin with time, in order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Bin& one : list_) {
      visit(one.bin, one.ns);
    }
    for (uint32_t i = 0; i < array_.size(); ++i) {
      if (array_[i] != 0) {
        visit(first_ + i, array_[i]);
      }
    }
  }

 private:
  static constexpr size_t kFew = 64;
  struct Bin {
    uint32_t bin;
    UInt128 ns;
  };
  void add_outside(uint32_t bin, UInt128 ns);
  void add_to_list(uint32_t bin, UInt128 ns);
  void make_room(uint32_t bin);

  // One of the two is empty.
  std::vector<Bin> list_;  // by bin
  std::vector<UInt128> array_;
  uint32_t first_ = 0;  // bin of array_[0]
};

}  // namespace vprof::analyzer
