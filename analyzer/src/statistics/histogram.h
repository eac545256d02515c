// Latencies in buckets whose width is a fixed part of their value, so that the quantiles of any
// number of intervals take little memory, and histograms of several runs add up.
#pragma once

#include <cstdint>
#include <vector>

namespace vprof::analyzer {

/// Width of a bucket: up to 1/1024 of its values; below 1024 ns, 1 ns.
uint32_t latency_bucket(uint64_t ns);
/// Coarser: up to 1/32 of its values. Each holds 32 whole buckets.
inline uint32_t latency_bin(uint64_t ns) { return latency_bucket(ns) >> 5; }

class Histogram {
 public:
  struct Bucket {
    uint64_t count = 0, least = 0, greatest = 0;  ///< ns
  };

  void add(uint64_t ns) { add(latency_bucket(ns), {1, ns, ns}); }
  void add(uint32_t bucket, const Bucket& more);
  Histogram& operator+=(const Histogram& other);

  uint64_t count() const { return count_; }
  /// The smallest latency such that at least the part `p` of all is not above it. Exact where a
  /// bucket holds up to two latencies or equal ones, else within the bucket. 0 if there are none.
  double quantile(double p) const;
  double max() const;

  /// What stands for the latencies from the `p` quantile on: whole bins from `first_whole` on, and
  /// the part `partial` of the bin below.
  struct Tail {
    uint64_t count = 0;
    uint32_t first_whole = 0;
    double partial = 0;
  };
  Tail tail(double p) const;

  const std::vector<Bucket>& buckets() const { return buckets_; }

 private:
  uint64_t rank_of(double p) const;

  std::vector<Bucket> buckets_;
  uint64_t count_ = 0;
};

}  // namespace vprof::analyzer
