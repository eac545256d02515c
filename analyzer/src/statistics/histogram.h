// Latencies in buckets whose width is a fixed fraction of their value: percentiles of any number of
// intervals in little memory, and histograms of several recordings add up.
//
//   latency, ns    0 ... 2047      2048 ... 4095     4096 ... 8191     ...
//   bucket width   1 ns (exact)    2 ns              4 ns              doubles with each octave
//   bin width      32 ns           64 ns             128 ns            32 buckets to a bin
#pragma once

#include <cstdint>
#include <vector>

namespace vprof::analyzer {

/// Number of the bucket that holds a latency. Its width is 1 ns up to 2047 ns, and at most 1/1024
/// of its least latency from there on.
uint32_t latency_bucket(uint64_t ns);
/// Number of the bin, which is 32 whole buckets: at most 1/32 of its least latency wide from
/// 1024 ns on.
inline uint32_t latency_bin(uint64_t ns) { return latency_bucket(ns) >> 5; }

class Histogram {
 public:
  struct Bucket {
    uint64_t count = 0;
    /// Least and greatest latency in the bucket, ns: exact.
    uint64_t least = 0, greatest = 0;
  };

  void add(uint64_t ns) { add(latency_bucket(ns), {1, ns, ns}); }
  void add(uint32_t bucket, const Bucket& more);
  Histogram& operator+=(const Histogram& other);

  uint64_t count() const { return count_; }
  /// The p-quantile by nearest rank: the smallest latency such that at least the fraction `p` of
  /// all latencies is not above it, ns. 0 if the histogram is empty.
  ///
  /// Error: less than 1/1024 of the exact value, since the result lies between the least and the
  /// greatest latency of the bucket. Exact below 2048 ns, and in any bucket with one or two
  /// latencies or with equal ones.
  double quantile(double p) const;
  /// The greatest latency, ns: exact. 0 if the histogram is empty.
  double max() const;

  /// The latencies from the p-quantile on, in bins: all bins from `first_whole` on, and the
  /// fraction `partial` of the bin below it.
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
