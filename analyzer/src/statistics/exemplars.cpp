#include "statistics/exemplars.h"

#include <algorithm>
#include <functional>

namespace vprof::analyzer {
namespace {

/// Inserts into a sorted list that keeps the first `limit` entries.
template <class T, class Before>
void insert_bounded(std::vector<T>& list, const T& entry, size_t limit, const Before& before) {
  if (list.size() == limit && !before(entry, list.back())) {
    return;
  }
  list.insert(std::upper_bound(list.begin(), list.end(), entry, before), entry);
  if (list.size() > limit) {
    list.pop_back();
  }
}

}  // namespace

uint64_t interval_hash(uint64_t key, int64_t id) {
  uint64_t h = key * 0x9e3779b97f4a7c15ull ^ static_cast<uint64_t>(id);
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

void PlaceExemplars::add_worst(const PlaceExemplar& exemplar) {
  insert_bounded(worst, exemplar, kWorst, std::greater<>());
  if (worst.size() == kWorst) {
    least_ns_ = worst.back().ns;
    least_latency_ = worst.back().latency;
  }
}

void PlaceExemplars::add_sampled(const PlaceExemplar& exemplar, uint64_t hash) {
  insert_bounded(sampled, std::pair(hash, exemplar), kSampled, std::less<>());
  hash_bound_ = sampled.size() == kSampled ? sampled.back().first : UINT64_MAX;
}

PlaceExemplars& PlaceExemplars::operator+=(const PlaceExemplars& other) {
  for (const PlaceExemplar& exemplar : other.worst) {
    add_worst(exemplar);
  }
  for (const auto& [hash, exemplar] : other.sampled) {
    add_sampled(exemplar, hash);
  }
  return *this;
}

}  // namespace vprof::analyzer
