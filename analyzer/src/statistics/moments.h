// Exact sums over intervals, and the variances and covariances that follow from them.
//
// Times are integers, so sums of their products are integers, and 128 bits hold them: adding is
// associative, nothing is rounded before the end, and the result depends neither on the order of
// the intervals nor on how they are cut into batches or given to threads. Floating Welford moments
// are stable but have neither property. See docs/analysis.md.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace vprof::analyzer {

using UInt128 = unsigned __int128;
using Int128 = __int128;

/// Σ(x - mean(x))(y - mean(y)) / n from the sums over n intervals (0 where n is 0). Exact up to the
/// last division.
long double covariance(uint64_t n, UInt128 sum_x, UInt128 sum_y, UInt128 sum_xy);
inline long double variance(uint64_t n, UInt128 sum_x, UInt128 sum_xx) {
  return covariance(n, sum_x, sum_x, sum_xx);
}

/// Of one node over the intervals of a batch. Intervals in which the node has no time count as 0.
struct NodeSums {
  UInt128 x = 0, xx = 0, xt = 0;
  uint64_t count = 0;

  /// An interval in which the node took `ns`.
  void add(uint64_t ns, uint64_t latency) {
    const UInt128 wide = ns;
    x += wide;
    xx += wide * ns;
    xt += wide * latency;
    ++count;
  }
  NodeSums& operator+=(const NodeSums& other);
  NodeSums& operator-=(const NodeSums& other);
};

/// Sums over some intervals. Products of siblings stand in a row of the later one: `rows[b][rank of
/// a]` where rank(a) < rank(b), ranks counted among siblings. Nodes and rows are as long as needed:
/// what is not there is 0.
struct BatchSums {
  uint64_t n = 0;
  int64_t from = INT64_MAX, to = INT64_MIN;  ///< least and greatest begin, ns since the recording's
  std::vector<NodeSums> nodes;
  std::vector<std::vector<UInt128>> rows;

  NodeSums node(uint32_t id) const { return id < nodes.size() ? nodes[id] : NodeSums(); }
  UInt128 product(uint32_t later, uint32_t rank) const {
    return later < rows.size() && rank < rows[later].size() ? rows[later][rank] : 0;
  }
  void add_node(uint32_t id, uint64_t ns, uint64_t latency) {
    if (nodes.size() <= id) {
      nodes.resize(id + 1);
    }
    nodes[id].add(ns, latency);
  }
  void add_product(uint32_t later, uint32_t rank, UInt128 xy);
  BatchSums& operator+=(const BatchSums& other);
};

/// Time of a node in intervals by the latency of these, in bins (latency_bin()): what the tail of
/// any length is added up from.
struct TailSums {
  uint32_t first = 0;
  std::vector<UInt128> x;

  void add(uint32_t bin, UInt128 ns);
  UInt128 at(uint32_t bin) const {
    return bin >= first && bin - first < x.size() ? x[bin - first] : 0;
  }
};

}  // namespace vprof::analyzer
