#include "classifier/classifier.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace smf {

namespace {

// One hot key is nearer to another one than to a key that is not hot, and further than any hint is
// a different type.
constexpr uint64_t kOtherKey = 2;
constexpr uint64_t kNotHot = 4;
constexpr uint64_t kOtherType = 1u << 20;

// Nothing is left to predict.
bool all_known(std::span<const HotKey> hints) {
  return !hints.empty() &&
         std::ranges::all_of(hints, [](auto& hint) { return hint.access.has_value(); });
}

}  // namespace

size_t Classifier::Hash::operator()(const MetadataVector& vector) const {
  size_t hash = vector.size();
  for (const uint64_t value : vector) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

// The squared Euclidean distance of the vectors with each integer as a one-hot vector, of the key
// and of whether it is hot. As numbers, keys 1 and 2 would be nearer than 1 and 9, which means
// nothing.
uint64_t Classifier::distance(const MetadataVector& a, const MetadataVector& b) {
  uint64_t sum = a[0] == b[0] ? 0 : kOtherType;
  for (size_t i = 1; i < std::max(a.size(), b.size()); ++i) {
    const uint64_t left = i < a.size() ? a[i] : 0;
    const uint64_t right = i < b.size() ? b[i] : 0;
    if (left != right) {
      sum += left == 0 || right == 0 ? kNotHot : kOtherKey;
    }
  }
  return sum;
}

void Classifier::find_hot_keys(std::span<const TracedTransaction> trace, const Training& training) {
  struct Count {
    uint64_t transactions = 0;
    bool written = false;
  };
  std::unordered_map<HotKeyId, Count> counts;
  for (const TracedTransaction& transaction : trace) {
    std::set<HotKeyId> keys;
    for (const TracedOperation& operation : transaction.operations) {
      const HotKeyId key = hot_key_id(operation.key);
      counts[key].written |= operation.access == Access::kWrite;
      counts[key].transactions += keys.insert(key).second ? 1 : 0;
    }
  }
  const double least = std::max(2.0, training.hot_share * static_cast<double>(trace.size()));
  for (const auto& [key, count] : counts) {
    if (count.written && static_cast<double>(count.transactions) >= least) {
      hot_.insert(key);
    }
  }
}

Classifier::MetadataVector Classifier::to_vector(uint32_t type,
                                                 std::span<const HotKey> hints) const {
  MetadataVector vector{type};
  for (const HotKey& hint : hints) {
    const HotKeyId key = hot_key_id(hint.key);
    vector.push_back(is_hot(key) ? key : 0);
  }
  return vector;
}

Classifier::Canonical Classifier::to_canonical(const TracedTransaction& transaction) const {
  Canonical canonical;
  for (const TracedOperation& operation : transaction.operations) {
    const uint32_t position = canonical.length++;
    const HotKeyId key = hot_key_id(operation.key);
    if (!is_hot(key)) {
      continue;
    }
    const auto hint = std::ranges::find(transaction.hints, operation.key, &HotKey::key);
    const bool is_hint = hint != transaction.hints.end();
    const auto index = static_cast<uint64_t>(hint - transaction.hints.begin());
    canonical.operations.push_back({is_hint, is_hint ? index : key, operation.access, position});
  }
  return canonical;
}

Prediction Classifier::resolve(const Canonical& canonical, std::span<const HotKey> hints) const {
  Prediction prediction;
  prediction.length = canonical.length;
  for (const CanonicalOperation& operation : canonical.operations) {
    HotKeyId key = operation.key;
    if (operation.is_hint) {
      if (operation.key >= hints.size()) {
        continue;
      }
      key = hot_key_id(hints[operation.key].key);
    }
    if (is_hot(key)) {
      prediction.operations.push_back({key, operation.access, operation.position});
    }
  }
  return prediction;
}

Classifier Classifier::train(std::span<const TracedTransaction> trace, const Training& training) {
  Classifier classifier;
  classifier.find_hot_keys(trace, training);
  std::vector<Sample> known;
  std::vector<Sample> set_aside;
  for (size_t i = 0; i < trace.size(); ++i) {
    if (all_known(trace[i].hints)) {
      continue;
    }
    const bool validates = i % std::max(training.validate_every, 2u) == 1;
    (validates ? set_aside : known)
        .push_back({&trace[i], classifier.to_vector(trace[i].type, trace[i].hints),
                    classifier.to_canonical(trace[i])});
  }
  if (!known.empty()) {
    classifier.find_usual_keys(known);
    classifier.find_clusters(known, set_aside, training.max_vectors);
  }
  return classifier;
}

// Clusters around centres, each the vector furthest from those before it (Gonzalez, Clustering to
// minimize the maximum intercluster distance, 1985), so that k clusters are found for all k at
// once. The smallest k of least validation error wins; powers of two and the number of vectors are
// tried.
void Classifier::find_clusters(std::span<const Sample> training, std::span<const Sample> validation,
                               uint32_t max_vectors) {
  std::map<MetadataVector, uint64_t> counts;
  for (const Sample& sample : training) {
    ++counts[sample.vector];
  }
  for (const auto& [vector, count] : counts) {
    vectors_.push_back({vector, count, 0});
  }
  std::ranges::stable_sort(vectors_, std::greater(), &Labelled::count);
  vectors_.resize(std::min<size_t>(vectors_.size(), std::max(max_vectors, 1u)));

  std::vector<uint64_t> to_centre(vectors_.size(), std::numeric_limits<uint64_t>::max());
  std::vector<uint32_t> nearest(vectors_.size());
  std::optional<Classifier> best;
  size_t centre = 0;
  for (uint32_t count = 1; count <= vectors_.size(); ++count) {
    for (size_t i = 0; i < vectors_.size(); ++i) {
      const uint64_t away = distance(vectors_[i].vector, vectors_[centre].vector);
      if (away < to_centre[i]) {
        to_centre[i] = away;
        nearest[i] = count - 1;
      }
    }
    if ((count & (count - 1)) == 0 || count == vectors_.size()) {
      label(training, nearest, count);
      validation_error_ = error(validation);
      if (!best || validation_error_ < best->validation_error_) {
        best = *this;
      }
    }
    centre = static_cast<size_t>(std::ranges::max_element(to_centre) - to_centre.begin());
  }
  *this = std::move(*best);
}

// Gives each vector its cluster, and each cluster the operations that most of its transactions had.
void Classifier::label(std::span<const Sample> training, std::span<const uint32_t> cluster_of,
                       uint32_t count) {
  exact_.clear();
  for (size_t i = 0; i < vectors_.size(); ++i) {
    vectors_[i].cluster = cluster_of[i];
    exact_[vectors_[i].vector] = cluster_of[i];
  }
  std::vector<std::map<Canonical, uint64_t>> seen(count);
  for (const Sample& sample : training) {
    const auto found = exact_.find(sample.vector);
    if (found != exact_.end()) {
      ++seen[found->second][sample.actual];
    }
  }
  clusters_.assign(count, {});
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t most = 0;
    for (const auto& [canonical, times] : seen[i]) {
      if (times > most) {
        most = times;
        clusters_[i] = canonical;
      }
    }
  }
}

void Classifier::find_usual_keys(std::span<const Sample> training) {
  std::unordered_map<uint64_t, uint64_t> transactions;
  std::map<std::pair<uint64_t, HotKeyId>, uint64_t> accesses;
  for (const Sample& sample : training) {
    const uint64_t type = sample.vector[0];
    ++transactions[type];
    std::set<HotKeyId> keys;
    for (const CanonicalOperation& operation : sample.actual.operations) {
      if (!operation.is_hint && keys.insert(operation.key).second) {
        ++accesses[{type, operation.key}];
      }
    }
  }
  for (const auto& [type_and_key, count] : accesses) {
    if (2 * count > transactions[type_and_key.first]) {
      usual_[type_and_key.first].insert(type_and_key.second);
    }
  }
}

double Classifier::error(std::span<const Sample> validation) const {
  uint64_t wrong = 0;
  for (const Sample& sample : validation) {
    const auto& hints = sample.transaction->hints;
    wrong += predict(sample.vector, hints).operations != resolve(sample.actual, hints).operations;
  }
  return validation.empty() ? 0
                            : static_cast<double>(wrong) / static_cast<double>(validation.size());
}

// A vector that the trace does not have has its neighbour's operations on the hints. Of the
// neighbour's other keys, which may belong to the neighbour's hints, only those that are usual for
// the type: without hints, all would be expected to access the same ones.
Prediction Classifier::predict(const MetadataVector& vector, std::span<const HotKey> hints) const {
  Prediction prediction = resolve(clusters_[cluster_of(vector)], hints);
  if (!exact_.contains(vector)) {
    const auto usual = usual_.find(vector[0]);
    std::erase_if(prediction.operations, [&](const Operation& operation) {
      return std::ranges::none_of(
                 hints, [&](auto& hint) { return hot_key_id(hint.key) == operation.key; }) &&
             (usual == usual_.end() || !usual->second.contains(operation.key));
    });
  }
  return prediction;
}

// The cluster of the nearest vector; among equally near ones, that of most transactions.
uint32_t Classifier::cluster_of(const MetadataVector& vector) const {
  const auto found = exact_.find(vector);
  if (found != exact_.end()) {
    return found->second;
  }
  uint64_t least = std::numeric_limits<uint64_t>::max();
  std::map<uint32_t, uint64_t> votes;
  for (const Labelled& known : vectors_) {
    const uint64_t away = distance(vector, known.vector);
    if (away < least) {
      least = away;
      votes.clear();
    }
    if (away == least) {
      votes[known.cluster] += known.count;
    }
  }
  return std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; })->first;
}

Prediction Classifier::predict(uint32_t type, std::span<const HotKey> hints) const {
  if (all_known(hints)) {
    Prediction prediction;
    for (const HotKey& hint : hints) {
      const HotKeyId key = hot_key_id(hint.key);
      if (is_hot(key)) {
        prediction.operations.push_back({key, *hint.access, prediction.length});
      }
      ++prediction.length;
    }
    return prediction;
  }
  if (clusters_.empty()) {
    return {};
  }
  return predict(to_vector(type, hints), hints);
}

}  // namespace smf
