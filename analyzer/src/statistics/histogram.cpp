#include "statistics/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace vprof::analyzer {

namespace {
constexpr int kBits = 10;
constexpr uint32_t kBinBits = 5;
}  // namespace

uint32_t latency_bucket(uint64_t ns) {
  constexpr uint64_t kLinear = 1u << kBits;
  if (ns < kLinear) {
    return static_cast<uint32_t>(ns);
  }
  const int shift = std::bit_width(ns) - (kBits + 1);
  return static_cast<uint32_t>(static_cast<uint64_t>(shift) * kLinear + (ns >> shift));
}

void Histogram::add(uint32_t bucket, const Bucket& more) {
  if (more.count == 0) {
    return;
  }
  if (buckets_.size() <= bucket) {
    buckets_.resize(bucket + 1);
  }
  Bucket& at = buckets_[bucket];
  at.least = at.count == 0 ? more.least : std::min(at.least, more.least);
  at.greatest = std::max(at.greatest, more.greatest);
  at.count += more.count;
  count_ += more.count;
}

Histogram& Histogram::operator+=(const Histogram& other) {
  for (uint32_t i = 0; i < other.buckets_.size(); ++i) {
    add(i, other.buckets_[i]);
  }
  return *this;
}

// From 1 to count.
uint64_t Histogram::rank_of(double p) const {
  // 0.95 is not a binary fraction: without the small subtrahend, 0.95 * 20 rounds up to 20.
  const double rank = std::ceil(p * static_cast<double>(count_) - 1e-9);
  return std::clamp<uint64_t>(static_cast<uint64_t>(std::max(rank, 1.0)), 1, count_);
}

double Histogram::quantile(double p) const {
  if (count_ == 0) {
    return 0;
  }
  uint64_t rank = rank_of(p);
  for (const Bucket& bucket : buckets_) {
    if (rank > bucket.count) {
      rank -= bucket.count;
      continue;
    }
    const auto least = static_cast<double>(bucket.least);
    if (bucket.count == 1) {
      return least;
    }
    return least + static_cast<double>(bucket.greatest - bucket.least) *
                       static_cast<double>(rank - 1) / static_cast<double>(bucket.count - 1);
  }
  return max();
}

double Histogram::max() const {
  return buckets_.empty() ? 0 : static_cast<double>(buckets_.back().greatest);
}

Histogram::Tail Histogram::tail(double p) const {
  Tail tail;
  if (count_ == 0) {
    return tail;
  }
  tail.count = count_ - rank_of(p) + 1;
  uint64_t left = tail.count;
  tail.first_whole = static_cast<uint32_t>(buckets_.size() >> kBinBits) + 1;
  while (left > 0) {
    const uint32_t bin = tail.first_whole - 1;
    uint64_t in_bin = 0;
    for (size_t i = size_t{bin} << kBinBits;
         i < buckets_.size() && i < (size_t{bin} + 1) << kBinBits; ++i) {
      in_bin += buckets_[i].count;
    }
    if (in_bin > left) {
      tail.partial = static_cast<double>(left) / static_cast<double>(in_bin);
      break;
    }
    left -= in_bin;
    tail.first_whole = bin;
  }
  return tail;
}

}  // namespace vprof::analyzer
