// For each place, a few intervals worth a look: where it took longest, and typical ones.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "vprof/analyzer/trace_context.h"

namespace vprof::analyzer {

/// One interval, and the time that a place took in it.
struct PlaceExemplar {
  uint64_t ns = 0;       ///< of the place
  uint64_t latency = 0;  ///< of the interval, ns
  uint64_t key = 0;      ///< of the interval, chosen by the program; 0: none
  int64_t id = 0;        ///< of the interval: its begin, ns of CLOCK_MONOTONIC
  TraceContext trace;    ///< of the interval
  auto operator<=>(const PlaceExemplar&) const = default;
};

/// A hash of the interval's key and id that scatters neighbours, so that the intervals with the
/// smallest hashes are as good as a random sample, and always the same one.
uint64_t interval_hash(uint64_t key, int64_t id);

/// The intervals in which a place took longest, and a sample of those in which it took any time.
/// Membership depends on the intervals alone, so adding does not depend on the order.
struct PlaceExemplars {
  static constexpr size_t kWorst = 3;
  static constexpr size_t kSampled = 9;
  std::vector<PlaceExemplar> worst;                         ///< longest first
  std::vector<std::pair<uint64_t, PlaceExemplar>> sampled;  ///< with its hash, smallest hash first

  /// `hash`: interval_hash() of the interval.
  void add(const PlaceExemplar& exemplar, uint64_t hash) {
    // Many places take the same time again and again. One branch, which is rarely taken, predicts
    // better than two.
    const bool longer = exemplar.ns > least_ns_;
    const bool equal = exemplar.ns == least_ns_;
    if (longer | (equal & (exemplar.latency >= least_latency_))) {
      add_worst(exemplar);
    }
    if (hash < hash_bound_) {
      add_sampled(exemplar, hash);
    }
  }
  PlaceExemplars& operator+=(const PlaceExemplars& other);

 private:
  void add_worst(const PlaceExemplar& exemplar);
  void add_sampled(const PlaceExemplar& exemplar, uint64_t hash);

  // What is certainly dropped needs no look at the lists.
  uint64_t least_ns_ = 0, least_latency_ = 0;
  uint64_t hash_bound_ = UINT64_MAX;
};

}  // namespace vprof::analyzer
