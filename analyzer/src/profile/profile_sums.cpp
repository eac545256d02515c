#include "profile/profile_sums.h"

#include <algorithm>
#include <stdexcept>

namespace vprof::analyzer {
namespace {

constexpr const char* kNoSuchPlace = "sums of a place that does not exist";
constexpr uint32_t kBucketLimit = 1u << 16;  // above latency_bucket() of any 64-bit latency

Json packed(PackedWriter& writer) { return Json::binary(writer.take()); }

Json encode_by_place(const std::vector<UInt128>& sums) {
  PackedWriter entries;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == 0) {
      continue;
    }
    entries.add(i);
    entries.add(sums[i]);
  }
  return packed(entries);
}

std::vector<UInt128> decode_by_place(const Json& from, size_t places) {
  std::vector<UInt128> sums(places);
  for (PackedReader entries(from.get_binary()); !entries.at_end();) {
    const uint32_t i = entries.index(places, kNoSuchPlace);
    sums[i] = entries.wide();
  }
  return sums;
}

}  // namespace

Json encode_batch(const Batch& batch) {
  const BatchSums& sums = batch.sums;
  PackedWriter nodes;
  for (size_t i = 0; i < sums.nodes.size(); ++i) {
    if (sums.nodes[i].count == 0) {
      continue;
    }
    nodes.add(i);
    nodes.add_struct(sums.nodes[i]);
    const size_t products = i < sums.rows.size() ? sums.rows[i].size() : 0;
    nodes.add(products);
    for (size_t k = 0; k < products; ++k) {
      nodes.add(sums.rows[i][k]);
    }
  }
  Json document = encode(batch);
  if (batch.slice != 0) {
    document["slice"] = batch.slice;
  }
  document["sums"] = encode(sums);
  document["sums"]["nodes"] = packed(nodes);
  document["sums"]["others"] = encode_by_place(sums.others);
  return document;
}

Batch decode_batch(const Json& from, const std::vector<Place>& places) {
  Batch batch;
  decode(from, batch);
  batch.slice = from.value("slice", int64_t{0});
  BatchSums& sums = batch.sums;
  decode(from.at("sums"), sums);
  if (sums.n == 0) {
    throw std::runtime_error("an empty batch");
  }
  sums.nodes.resize(places.size());
  sums.rows.resize(places.size());
  for (PackedReader nodes(from.at("sums").at("nodes").get_binary()); !nodes.at_end();) {
    const uint32_t i = nodes.index(places.size(), kNoSuchPlace);
    nodes.read_struct(sums.nodes[i]);
    sums.rows[i].resize(nodes.index(uint64_t{places[i].rank} + 1, kNoSuchPlace));
    for (UInt128& product : sums.rows[i]) {
      product = nodes.wide();
    }
  }
  if (const auto others = from.at("sums").find("others"); others != from.at("sums").end()) {
    sums.others = decode_by_place(*others, places.size());
  }
  return batch;
}

Json encode_tail(const TailSums& tail) {
  PackedWriter bins;
  tail.for_each([&](uint32_t bin, UInt128 ns) {
    bins.add(bin);
    bins.add(ns);
  });
  return packed(bins);
}

TailSums decode_tail(const Json& from) {
  TailSums tail;
  for (PackedReader bins(from.get_binary()); !bins.at_end();) {
    const uint32_t bin = bins.index(kBucketLimit, "a latency out of range");
    tail.add(bin, bins.wide());
  }
  return tail;
}

Json encode_exemplars(const PlaceExemplars& exemplars) {
  PackedWriter all;
  all.add(exemplars.worst.size());
  for (const PlaceExemplar& exemplar : exemplars.worst) {
    all.add_struct(exemplar);
  }
  for (const auto& [hash, exemplar] : exemplars.sampled) {
    all.add_struct(exemplar);
  }
  return packed(all);
}

PlaceExemplars decode_exemplars(const Json& from) {
  PlaceExemplars exemplars;
  PackedReader numbers(from.get_binary());
  exemplars.worst.resize(numbers.index(PlaceExemplars::kWorst + 1, "too many exemplars"));
  for (PlaceExemplar& exemplar : exemplars.worst) {
    numbers.read_struct(exemplar);
  }
  while (!numbers.at_end()) {
    PlaceExemplar exemplar;
    numbers.read_struct(exemplar);
    exemplars.sampled.emplace_back(interval_hash(exemplar.key, exemplar.id), exemplar);
  }
  if (exemplars.sampled.size() > PlaceExemplars::kSampled ||
      !std::is_sorted(exemplars.sampled.begin(), exemplars.sampled.end())) {
    throw std::runtime_error("exemplars out of order");
  }
  return exemplars;
}

Json encode_traces(const PlaceExemplars& exemplars) {
  PackedWriter all;
  bool any = false;
  const auto add = [&](const PlaceExemplar& exemplar) {
    all.add_struct(exemplar.trace);
    any = any || exemplar.trace.is_set();
  };
  std::ranges::for_each(exemplars.worst, add);
  for (const auto& [hash, exemplar] : exemplars.sampled) {
    add(exemplar);
  }
  return Json::binary(any ? all.take() : std::vector<uint8_t>());
}

void decode_traces(const Json& from, PlaceExemplars& exemplars) {
  PackedReader numbers(from.get_binary());
  if (numbers.at_end()) {
    return;
  }
  for (PlaceExemplar& exemplar : exemplars.worst) {
    numbers.read_struct(exemplar.trace);
  }
  for (auto& [hash, exemplar] : exemplars.sampled) {
    numbers.read_struct(exemplar.trace);
  }
}

Json encode_covariates(const CovariateSums& sums) {
  Json document = encode(sums);
  document["xw"] = encode_by_place(sums.xw);
  Json& labels = document["by_label"] = Json::object();
  for (const auto& [label, times] : sums.by_label) {
    labels[label] = encode_by_place(times);
  }
  return document;
}

CovariateSums decode_covariates(const Json& from, size_t places) {
  CovariateSums sums;
  decode(from, sums);
  sums.xw = decode_by_place(from.at("xw"), places);
  for (const auto& [label, times] : from.at("by_label").items()) {
    sums.by_label[label] = decode_by_place(times, places);
  }
  return sums;
}

Json encode_latencies(const Histogram& latencies) {
  Json buckets = Json::array();
  for (const Histogram::Bucket& bucket : latencies.buckets()) {
    if (bucket.count != 0) {
      buckets.push_back(encode(bucket));
    }
  }
  return buckets;
}

Histogram decode_latencies(const Json& from) {
  Histogram latencies;
  for (const Json& entry : from) {
    Histogram::Bucket bucket;
    decode(entry, bucket);
    const uint32_t index = latency_bucket(bucket.least);
    if (index >= kBucketLimit || index != latency_bucket(bucket.greatest)) {
      throw std::runtime_error("a bucket with latencies of another bucket");
    }
    latencies.add(index, bucket);
  }
  return latencies;
}

}  // namespace vprof::analyzer
