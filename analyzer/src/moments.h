// Exact sums over intervals, and the variances and covariances that follow from them.
//
// Times are integers, so sums of their products are integers, and 128 bits hold them: adding is
// associative, nothing is rounded before the end, and the result depends neither on the order of
// the intervals nor on how they are cut into batches. Floating Welford moments are stable but have
// neither property. See docs/analysis.md.
#pragma once

#include <cstdint>
#include <unordered_map>
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
  UInt128 x = 0, xx = 0, xt = 0, tail = 0;
  uint64_t count = 0;

  NodeSums& operator+=(const NodeSums& other);
  NodeSums& operator-=(const NodeSums& other);
};

/// Two siblings: nodes a < b.
struct PairSum {
  uint32_t a, b;
  UInt128 xy;
};

struct BatchSums {
  uint64_t n = 0;
  uint64_t tail_n = 0;
  std::vector<NodeSums> nodes;  ///< by node; shorter if later ones have no time in the batch
  std::vector<PairSum> pairs;   ///< by (a, b)

  NodeSums node(uint32_t id) const { return id < nodes.size() ? nodes[id] : NodeSums(); }
  UInt128 pair(uint32_t a, uint32_t b) const;
};

/// Collects the times of one batch of intervals after the other.
class Moments {
 public:
  struct Time {
    uint32_t node;
    uint32_t parent;
    uint64_t ns;
  };

  /// One interval: its nodes in order of (parent, node), the root among them with the latency. Each
  /// node once.
  void add(const std::vector<Time>& times, uint64_t latency, bool in_tail);
  void end_batch();

  const std::vector<BatchSums>& batches() const { return batches_; }
  BatchSums total() const;

 private:
  std::vector<BatchSums> batches_;
  BatchSums current_;
  std::unordered_map<uint64_t, UInt128> pairs_;
};

}  // namespace vprof::analyzer
