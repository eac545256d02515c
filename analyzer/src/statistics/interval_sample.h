// Single intervals that are kept of a recording, with where their time went: what plots of one
// interval per point are made of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace vprof::analyzer {

struct SampledInterval {
  uint64_t latency = 0;  ///< ns
  uint64_t id = 0;       ///< as the program named it
  std::string label;
  int64_t run = 0;    ///< begin of the recording, ns of CLOCK_REALTIME
  int64_t begin = 0;  ///< ns since then
  std::vector<std::pair<uint32_t, uint64_t>> leaves;  ///< place, ns; they add up to the latency
};

/// A uniform sample, and the slowest of all. The sample is those with the smallest hashes, as many
/// as the bounds on intervals and leaves allow. Which these are depends on the intervals alone:
/// whoever is within the bounds among all is so in any part of them. So adding is order-free.
class IntervalSample {
 public:
  static constexpr size_t kSampled = 2000;
  static constexpr size_t kWorst = 50;
  static constexpr size_t kMostLeaves = 400'000;  ///< of each of the two

  using Key = std::tuple<uint64_t, uint64_t, int64_t, int64_t>;  ///< hash or ~latency, id, ...
  using Kept = std::map<Key, SampledInterval>;

  /// Whether add() may keep it; asked first, since most are not kept.
  bool wants(uint64_t hash, uint64_t latency) const {
    return sampled.wants(hash) || worst.wants(~latency);
  }
  /// `hash`: sample_hash() of it.
  void add(uint64_t hash, const SampledInterval& interval);
  /// Adds all of another sample; its places are at `to` here. `run`: of all of them, if known only
  /// now.
  void add(const IntervalSample& other, const std::vector<uint32_t>& to,
           std::optional<int64_t> run = {});

  /// The first so many of a list in order of its key.
  class Bounded {
   public:
    explicit Bounded(size_t most) : most_(most) {}
    bool wants(uint64_t first) const { return first <= std::get<0>(bound_); }
    void add(const Key& key, const SampledInterval& interval);
    /// Nothing from `bound` on is kept: it had no room once.
    void cut(const Key& bound);

    const Kept& kept() const { return kept_; }
    const Key& bound() const { return bound_; }

   private:
    size_t most_;
    Kept kept_;
    size_t leaves_ = 0;
    Key bound_ = {UINT64_MAX, UINT64_MAX, INT64_MAX, INT64_MAX};
  };
  Bounded sampled{kSampled};  ///< by hash
  Bounded worst{kWorst};      ///< by ~latency
};

}  // namespace vprof::analyzer
