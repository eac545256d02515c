#include "profile/profile_details.h"

#include <stdexcept>

#include "profile/packed_numbers.h"

namespace vprof::analyzer {
namespace {

using Json = nlohmann::json;

constexpr uint32_t kMostBins = 1u << 11;  // latency_bin() of 2^64 is below

Json to_json(const IntervalSample::Bounded& part) {
  Json intervals = Json::array();
  for (const auto& [key, one] : part.kept()) {
    PackedWriter leaves;
    for (const auto& [place, ns] : one.leaves) {
      leaves.add(place);
      leaves.add(ns);
    }
    intervals.push_back({std::get<0>(key), one.latency, one.id, one.label, one.run, one.begin,
                         Json::binary(leaves.take())});
  }
  const auto& [first, id, begin, run] = part.bound();
  return {{"bound", {first, id, begin, run}}, {"intervals", std::move(intervals)}};
}

void read_intervals(const Json& from, size_t places, IntervalSample::Bounded& part) {
  for (const Json& entry : from.at("intervals")) {
    SampledInterval one;
    one.latency = entry.at(1).get<uint64_t>();
    one.id = entry.at(2).get<uint64_t>();
    one.label = entry.at(3).get<std::string>();
    one.run = entry.at(4).get<int64_t>();
    one.begin = entry.at(5).get<int64_t>();
    for (PackedReader leaves(entry.at(6).get_binary()); !leaves.at_end();) {
      const uint32_t place = leaves.index(places, "an interval's time at no place");
      one.leaves.emplace_back(place, leaves.number());
    }
    part.add({entry.at(0).get<uint64_t>(), one.id, one.begin, one.run}, one);
  }
  const Json& bound = from.at("bound");
  part.cut({bound.at(0).get<uint64_t>(), bound.at(1).get<uint64_t>(), bound.at(2).get<int64_t>(),
            bound.at(3).get<int64_t>()});
}

}  // namespace

void write_details(const Account& account, Json& document) {
  document["intervals"] = {{"sampled", to_json(account.intervals.sampled)},
                           {"worst", to_json(account.intervals.worst)}};
  Json& labels = document["label_bins"] = Json::object();
  for (const auto& [label, bins] : account.label_bins) {
    Json& own = labels[label] = Json::array();
    for (const auto& [bin, count] : bins) {
      own.push_back({bin, count});
    }
  }
}

void read_details(const Json& document, Account& account) {
  const Json& intervals = document.at("intervals");
  read_intervals(intervals.at("sampled"), account.places.size(), account.intervals.sampled);
  read_intervals(intervals.at("worst"), account.places.size(), account.intervals.worst);
  for (const auto& [label, bins] : document.at("label_bins").items()) {
    for (const Json& entry : bins) {
      const auto bin = entry.at(0).get<uint32_t>();
      if (bin >= kMostBins) {
        throw std::runtime_error("a latency beyond all");
      }
      account.label_bins[label][bin] += entry.at(1).get<uint64_t>();
    }
  }
}

}  // namespace vprof::analyzer
