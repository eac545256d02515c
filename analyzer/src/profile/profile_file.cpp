#include "profile/profile_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "profile/profile_fields.h"
#include "profile/profile_intervals.h"
#include "profile/profile_sums.h"

namespace vprof::analyzer {
namespace {

constexpr int kVersion = 2;
constexpr const char* kMagic = "vprof-profile";

/// Refuses deeply nested documents: reading one recurses and could exhaust the stack.
struct DepthLimit : nlohmann::json_sax<Json> {
  static constexpr int kMostNesting = 64;  // a profile has 6 levels

  std::string error = "nested too deeply";
  int depth = 0;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(size_t) override { return ++depth <= kMostNesting; }
  bool start_array(size_t) override { return ++depth <= kMostNesting; }
  bool end_object() override { return --depth, true; }
  bool end_array() override { return --depth, true; }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& what) override {
    error = what.what();
    return false;
  }
};

void check_format(const Json& document) {
  if (document.value("format", "") != kMagic) {
    throw std::runtime_error("not a profile");
  }
  const int version = document.at("version").get<int>();
  if (version != kVersion) {
    throw std::runtime_error("profile version " + std::to_string(version) +
                             ", this program reads " + std::to_string(kVersion));
  }
}

std::vector<Place> decode_places(const Json& from) {
  std::vector<Place> places;
  std::vector<uint32_t> child_counts;  // by place
  for (const Json& entry : from) {
    Place place;
    decode(entry, place);
    if (places.empty()) {
      place.parent = kNoPlace;
    } else if (place.parent >= places.size()) {
      throw std::runtime_error("a place before its parent");
    } else {
      place.rank = child_counts[place.parent]++;
    }
    child_counts.push_back(0);
    places.push_back(std::move(place));
  }
  if (places.empty()) {
    throw std::runtime_error("no places");
  }
  return places;
}

void check_counts(const IntervalSums& sums) {
  if (sums.tails.size() > sums.places.size() || sums.exemplars.size() > sums.places.size()) {
    throw std::runtime_error("sums of a place that does not exist");
  }
  uint64_t in_batches = 0;
  for (const Batch& batch : sums.batches) {
    in_batches += batch.sums.n;
  }
  if (in_batches == 0 || in_batches != sums.count()) {
    throw std::runtime_error("batches and latencies are not of the same intervals");
  }
}

IntervalSums decode_sums(const Json& document) {
  check_format(document);
  IntervalSums sums;
  decode(document, sums);
  sums.places = decode_places(document.at("places"));
  for (const Json& batch : document.at("batches")) {
    sums.batches.push_back(decode_batch(batch, sums.places));
  }
  for (const Json& tail : document.at("tails")) {
    sums.tails.push_back(decode_tail(tail));
  }
  for (const Json& exemplars : document.at("samples")) {
    sums.exemplars.push_back(decode_exemplars(exemplars));
  }
  const Json traces = document.value("sample_traces", Json::array());
  for (size_t i = 0; i < std::min(traces.size(), sums.exemplars.size()); ++i) {
    decode_traces(traces[i], sums.exemplars[i]);
  }
  sums.latencies = decode_latencies(document.at("latencies"));
  if (const auto queue = document.find("loop_queue"); queue != document.end()) {
    decode(queue->at("sums"), sums.loop_queue);
    sums.loop_queue.waits = decode_latencies(queue->at("waits"));
  }
  check_counts(sums);
  for (const Json& batch : document.at("batches")) {
    sums.others_known = sums.others_known && batch.at("sums").contains("others");
  }
  decode_intervals(document, sums);
  sums.covariates = decode_covariates(document.at("explain"), sums.places.size());
  return sums;
}

bool has_traces(const PlaceExemplars& exemplars) {
  return !encode_traces(exemplars).get_binary().empty();
}

template <class T, class Encode>
Json encode_list(const std::vector<T>& list, const Encode& encode_one) {
  Json result = Json::array();
  for (const T& one : list) {
    result.push_back(encode_one(one));
  }
  return result;
}

}  // namespace

std::string to_bytes(const IntervalSums& sums) {
  Json document = encode(sums);
  document["format"] = kMagic;
  document["version"] = kVersion;
  document["places"] = encode_list(sums.places, encode<Place>);
  document["batches"] = encode_list(sums.batches, encode_batch);
  document["tails"] = encode_list(sums.tails, encode_tail);
  document["samples"] = encode_list(sums.exemplars, encode_exemplars);
  if (std::ranges::any_of(sums.exemplars, has_traces)) {
    document["sample_traces"] = encode_list(sums.exemplars, encode_traces);
  }
  document["explain"] = encode_covariates(sums.covariates);
  document["latencies"] = encode_latencies(sums.latencies);
  if (sums.loop_queue.waits.count() != 0) {
    document["loop_queue"]["sums"] = encode(sums.loop_queue);
    document["loop_queue"]["waits"] = encode_latencies(sums.loop_queue.waits);
  }
  encode_intervals(sums, document);
  const std::vector<uint8_t> bytes = Json::to_msgpack(document);
  return {bytes.begin(), bytes.end()};
}

Result<IntervalSums> from_bytes(const std::string& bytes) {
  constexpr const char* kMessage = "not a whole profile of this program: {}";
  try {
    DepthLimit limit;
    if (!Json::sax_parse(bytes, &limit, nlohmann::json::input_format_t::msgpack)) {
      return fail(kMessage, limit.error);
    }
    return decode_sums(Json::from_msgpack(bytes));
  } catch (const std::exception& error) {
    return fail(kMessage, error.what());
  }
}

}  // namespace vprof::analyzer
