#include "profile/profile_intervals.h"

#include <stdexcept>

namespace vprof::analyzer {
namespace {

constexpr uint32_t kMostMagnitudes = 64;
constexpr uint32_t kBinLimit = 1u << 11;  // above latency_bin() of any 64-bit latency

/// An interval is [first element of its key, members of SampledInterval ..., leaves].
constexpr size_t kFirstMember = 1;
constexpr size_t kLeaves =
    kFirstMember + std::tuple_size_v<decltype(ListStruct<SampledInterval>::kMembers)>;

Json encode_sample(const IntervalSample::Smallest& sample) {
  Json intervals = Json::array();
  Json ids = Json::array();
  PackedWriter traces;
  bool any_trace = false;
  for (const auto& [key, interval] : sample.kept()) {
    PackedWriter leaves;
    for (const auto& [place, ns] : interval.leaves) {
      leaves.add(place);
      leaves.add(ns);
    }
    Json::array_t entry;
    entry.reserve(kLeaves + 1);
    entry.emplace_back(std::get<0>(key));
    append_members(entry, interval);
    entry.push_back(Json::binary(leaves.take()));
    intervals.push_back(std::move(entry));
    ids.push_back(interval.id);
    traces.add_struct(interval.trace);
    any_trace = any_trace || interval.trace.is_set();
  }
  const auto& [first, key, begin, run] = sample.bound();
  Json document = {{"bound", {first, key, begin, run}},
                   {"intervals", std::move(intervals)},
                   {"ids", std::move(ids)}};
  if (any_trace) {
    document["traces"] = Json::binary(traces.take());
  }
  return document;
}

void decode_sample(const Json& from, size_t places, IntervalSample::Smallest& sample) {
  const Json ids = from.value("ids", Json::array());  // earlier versions have none
  const Json packed_traces = from.value("traces", Json::binary({}));
  PackedReader traces(packed_traces.get_binary());
  size_t number = 0;
  for (const Json& entry : from.at("intervals")) {
    SampledInterval interval;
    decode(entry, interval, kFirstMember);
    interval.id = number < ids.size() ? ids[number].get<int64_t>() : 0;
    ++number;
    if (!traces.at_end()) {
      traces.read_struct(interval.trace);
    }
    for (PackedReader leaves(entry.at(kLeaves).get_binary()); !leaves.at_end();) {
      const uint32_t place = leaves.index(places, "an interval with time in no place");
      interval.leaves.emplace_back(place, leaves.number());
    }
    const IntervalSample::Key key = {entry.at(0).get<uint64_t>(), interval.key, interval.begin,
                                     interval.run};
    sample.add(key, std::move(interval));
  }
  sample.cut(from.at("bound").get<IntervalSample::Key>());
}

}  // namespace

void encode_intervals(const IntervalSums& sums, Json& document) {
  document["intervals"] = {{"sampled", encode_sample(sums.sample.sampled)},
                           {"worst", encode_sample(sums.sample.worst)}};
  Json& labels = document["label_bins"] = Json::object();
  for (const auto& [label, bins] : sums.label_bins) {
    Json& own = labels[label] = Json::array();
    for (const auto& [bin, count] : bins) {
      own.push_back({bin, count});
    }
  }
  Json& records = document["records"] = {{"labels", Json::object()}, {"magnitudes", Json::array()}};
  for (const auto& [label, of_label] : sums.records.labels) {
    records["labels"][label] = encode(of_label);
  }
  for (const auto& [magnitude, of_magnitude] : sums.records.magnitudes) {
    records["magnitudes"].push_back({magnitude, encode(of_magnitude)});
  }
}

void decode_intervals(const Json& document, IntervalSums& sums) {
  const Json& intervals = document.at("intervals");
  decode_sample(intervals.at("sampled"), sums.places.size(), sums.sample.sampled);
  decode_sample(intervals.at("worst"), sums.places.size(), sums.sample.worst);
  for (const auto& [label, bins] : document.at("label_bins").items()) {
    for (const Json& entry : bins) {
      const auto bin = entry.at(0).get<uint32_t>();
      if (bin >= kBinLimit) {
        throw std::runtime_error("a latency out of range");
      }
      sums.label_bins[label][bin] += entry.at(1).get<uint64_t>();
    }
  }
  if (!document.contains("records")) {
    return;  // of an earlier version
  }
  const Json& records = document.at("records");
  for (const auto& [label, of_label] : records.at("labels").items()) {
    decode(of_label, sums.records.labels[label]);
  }
  for (const Json& entry : records.at("magnitudes")) {
    const auto magnitude = entry.at(0).get<uint32_t>();
    if (magnitude > kMostMagnitudes) {
      throw std::runtime_error("a latency out of range");
    }
    decode(entry.at(1), sums.records.magnitudes[magnitude]);
  }
}

}  // namespace vprof::analyzer
