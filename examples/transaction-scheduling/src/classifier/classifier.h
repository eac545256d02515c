// Predicts a transaction's operations on hot keys from its type and the hot keys that it names
// (section 4.1.2), learnt from a trace:
//
//   trace ──▶ hot keys ──▶ metadata vectors ──▶ clusters ──▶ each one's most frequent operations
//   type, hot keys ──▶ metadata vector ──▶ nearest vector of the trace ──▶ its cluster's operations
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "scheduler/prediction.h"

namespace smf {

// A hint: a key that the transaction will access. How is for applications that know it already;
// then the hints are the transaction's operations in their order, and nothing is left to predict.
struct HotKey {
  std::string key;
  std::optional<Access> access = std::nullopt;
};

struct TracedOperation {
  std::string key;
  Access access;
};

struct TracedTransaction {
  uint32_t type;
  std::vector<HotKey> hints;
  std::vector<TracedOperation> operations;
};

struct Training {
  // A key is hot if this share of the transactions accesses it, at least two do, and one writes it.
  double hot_share = 0.01;
  // Every how manieth transaction is set aside to validate the number of clusters.
  uint32_t validate_every = 5;
  // Vectors beyond these, the rarest ones, are left out.
  uint32_t max_vectors = 2048;
};

class Classifier {
 public:
  // Knows no hot key.
  Classifier() = default;

  static Classifier train(std::span<const TracedTransaction> trace, const Training& training = {});

  Prediction predict(uint32_t type, std::span<const HotKey> hints) const;

  bool is_hot(HotKeyId key) const { return hot_.contains(key); }
  size_t hot_keys() const { return hot_.size(); }
  size_t clusters() const { return clusters_.size(); }
  // The share of the transactions set aside whose operations on hot keys were not those predicted.
  double validation_error() const { return validation_error_; }

 private:
  // A canonical operation is on one of the hints, so that one cluster serves keys that are accessed
  // alike, or on a key that is always the same.
  struct CanonicalOperation {
    bool is_hint;
    uint64_t key;  // the hint's index, or a HotKeyId
    Access access;
    uint32_t position;
    friend auto operator<=>(const CanonicalOperation&, const CanonicalOperation&) = default;
  };
  struct Canonical {
    std::vector<CanonicalOperation> operations;
    uint32_t length = 0;
    friend auto operator<=>(const Canonical&, const Canonical&) = default;
  };

  // The type, and the hints as integers: 0 for a key that is not hot.
  using MetadataVector = std::vector<uint64_t>;
  struct Hash {
    size_t operator()(const MetadataVector& vector) const;
  };
  struct Labelled {
    MetadataVector vector;
    uint64_t count;  // in the trace
    uint32_t cluster;
  };
  struct Sample {
    const TracedTransaction* transaction;
    MetadataVector vector;
    Canonical actual;
  };

  static uint64_t distance(const MetadataVector& a, const MetadataVector& b);
  void find_hot_keys(std::span<const TracedTransaction> trace, const Training& training);
  MetadataVector to_vector(uint32_t type, std::span<const HotKey> hints) const;
  Canonical to_canonical(const TracedTransaction& transaction) const;
  Prediction resolve(const Canonical& canonical, std::span<const HotKey> hints) const;
  Prediction predict(const MetadataVector& vector, std::span<const HotKey> hints) const;
  void find_usual_keys(std::span<const Sample> training);
  void find_clusters(std::span<const Sample> training, std::span<const Sample> validation,
                     uint32_t max_vectors);
  void label(std::span<const Sample> training, std::span<const uint32_t> cluster_of,
             uint32_t count);
  double error(std::span<const Sample> validation) const;
  uint32_t cluster_of(const MetadataVector& vector) const;

  std::unordered_set<HotKeyId> hot_;
  // Of each type, the keys that more than half of its transactions access without a hint.
  std::unordered_map<uint64_t, std::unordered_set<HotKeyId>> usual_;
  std::vector<Labelled> vectors_;
  std::unordered_map<MetadataVector, uint32_t, Hash> exact_;  // to the cluster
  std::vector<Canonical> clusters_;
  double validation_error_ = 0;
};

}  // namespace smf
