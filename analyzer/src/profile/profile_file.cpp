#include "profile/profile_file.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "profile/packed_numbers.h"
#include "profile/profile_details.h"

namespace vprof::analyzer {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 2;
constexpr const char* kMagic = "vprof-profile";
constexpr uint32_t kMostBuckets = 1u << 16;  // latency_bucket() of 2^64 is below

constexpr int kMostNesting = 64;  // a profile needs 6

/// Refuses what is nested so deeply that reading it, which recurses, would use up the stack.
struct Shallow : nlohmann::json_sax<Json> {
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

Json wide(UInt128 value) {
  return Json::array({static_cast<uint64_t>(value >> 64), static_cast<uint64_t>(value)});
}

UInt128 wide(const Json& from) {
  return static_cast<UInt128>(from.at(0).get<uint64_t>()) << 64 | from.at(1).get<uint64_t>();
}

Json to_json(const Place& place) {
  return {{"kind", static_cast<int>(place.kind)},
          {"blamed", place.blamed},
          {"parent", place.parent},
          {"name", place.name},
          {"key", place.key},
          {"where", place.where},
          {"site", place.site},
          {"definition", place.definition},
          {"height", place.height},
          {"expandable", place.expandable},
          {"expanded", place.expanded}};
}

Place read_place(const Json& from, std::vector<uint32_t>& children) {
  Place place;
  const int kind = from.at("kind").get<int>();
  if (kind < 0 || kind > static_cast<int>(NodeKind::kUntracked)) {
    throw std::runtime_error("a place of an unknown kind");
  }
  place.kind = static_cast<NodeKind>(kind);
  place.blamed = from.at("blamed").get<bool>();
  place.name = from.at("name").get<std::string>();
  place.key = from.at("key").get<std::string>();
  place.where = from.at("where").get<std::string>();
  place.site = from.at("site").get<std::string>();
  place.definition = from.at("definition").get<std::string>();
  place.height = from.at("height").get<int>();
  place.expandable = from.at("expandable").get<bool>();
  place.expanded = from.at("expanded").get<bool>();
  if (!children.empty()) {
    place.parent = from.at("parent").get<uint32_t>();
    if (place.parent >= children.size()) {
      throw std::runtime_error("a place before its parent");
    }
    place.rank = children[place.parent]++;
  }
  children.push_back(0);
  return place;
}

Json packed(PackedWriter& writer) { return Json::binary(writer.take()); }

Json to_json(const BatchSums& sums) {
  PackedWriter nodes;
  for (uint32_t i = 0; i < sums.nodes.size(); ++i) {
    const NodeSums& node = sums.nodes[i];
    if (node.count == 0) {
      continue;
    }
    for (const UInt128 value : {UInt128{i}, UInt128{node.count}, node.x, node.xx, node.xt}) {
      nodes.add(value);
    }
    const size_t products = i < sums.rows.size() ? sums.rows[i].size() : 0;
    nodes.add(products);
    for (size_t k = 0; k < products; ++k) {
      nodes.add(sums.rows[i][k]);
    }
  }
  return {{"n", sums.n}, {"from", sums.from}, {"to", sums.to}, {"nodes", packed(nodes)}};
}

BatchSums read_sums(const Json& from, const std::vector<Place>& places) {
  constexpr const char* kNowhere = "sums of a place that is not there";
  BatchSums sums;
  sums.n = from.at("n").get<uint64_t>();
  sums.from = from.at("from").get<int64_t>();
  sums.to = from.at("to").get<int64_t>();
  if (sums.n == 0) {
    throw std::runtime_error("an empty batch");
  }
  sums.nodes.resize(places.size());
  sums.rows.resize(places.size());
  for (PackedReader nodes(from.at("nodes").get_binary()); !nodes.at_end();) {
    const uint32_t i = nodes.index(places.size(), kNowhere);
    sums.nodes[i].count = nodes.number();
    sums.nodes[i].x = nodes.wide();
    sums.nodes[i].xx = nodes.wide();
    sums.nodes[i].xt = nodes.wide();
    sums.rows[i].resize(nodes.index(uint64_t{places[i].rank} + 1, kNowhere));
    for (UInt128& product : sums.rows[i]) {
      product = nodes.wide();
    }
  }
  return sums;
}

Json to_json(const TailSums& tail) {
  PackedWriter bins;
  for (uint32_t i = 0; i < tail.x.size(); ++i) {
    if (tail.x[i] == 0) {
      continue;
    }
    bins.add(tail.first + i);
    bins.add(tail.x[i]);
  }
  return packed(bins);
}

TailSums read_tail(const Json& from) {
  TailSums tail;
  for (PackedReader bins(from.get_binary()); !bins.at_end();) {
    const uint32_t bin = bins.index(kMostBuckets, "a latency beyond all");
    tail.add(bin, bins.wide());
  }
  return tail;
}

void add(const Sample& sample, PackedWriter& to) {
  to.add(sample.ns);
  to.add(sample.latency);
  to.add(sample.id);
  to.add(static_cast<uint64_t>(sample.begin));
}

Sample read_sample(PackedReader& from) {
  Sample sample;
  sample.ns = from.number();
  sample.latency = from.number();
  sample.id = from.number();
  sample.begin = static_cast<int64_t>(from.number());
  return sample;
}

Json to_json(const Samples& samples) {
  PackedWriter all;
  all.add(samples.worst.size());
  for (const Sample& sample : samples.worst) {
    add(sample, all);
  }
  for (const auto& [hash, sample] : samples.sampled) {
    add(sample, all);
  }
  return packed(all);
}

Samples read_samples(const Json& from) {
  Samples all;
  PackedReader numbers(from.get_binary());
  const uint32_t worst = numbers.index(Samples::kWorst + 1, "too many samples");
  for (uint32_t i = 0; i < worst; ++i) {
    all.worst.push_back(read_sample(numbers));
  }
  while (!numbers.at_end()) {
    const Sample sample = read_sample(numbers);
    all.sampled.emplace_back(sample_hash(sample), sample);
  }
  if (all.sampled.size() > Samples::kSampled ||
      !std::is_sorted(all.sampled.begin(), all.sampled.end())) {
    throw std::runtime_error("samples out of order");
  }
  return all;
}

Json to_json(const Histogram& latencies) {
  Json buckets = Json::array();
  for (uint32_t i = 0; i < latencies.buckets().size(); ++i) {
    const Histogram::Bucket& bucket = latencies.buckets()[i];
    if (bucket.count != 0) {
      buckets.push_back({bucket.count, bucket.least, bucket.greatest});
    }
  }
  return buckets;
}

Histogram read_latencies(const Json& from) {
  Histogram latencies;
  for (const Json& entry : from) {
    const Histogram::Bucket bucket{entry.at(0).get<uint64_t>(), entry.at(1).get<uint64_t>(),
                                   entry.at(2).get<uint64_t>()};
    const uint32_t index = latency_bucket(bucket.least);
    if (index >= kMostBuckets || index != latency_bucket(bucket.greatest)) {
      throw std::runtime_error("a bucket of latencies that are not of one");
    }
    latencies.add(index, bucket);
  }
  return latencies;
}

Json by_place(const std::vector<UInt128>& sums) {
  PackedWriter entries;
  for (uint32_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == 0) {
      continue;
    }
    entries.add(i);
    entries.add(sums[i]);
  }
  return packed(entries);
}

std::vector<UInt128> read_by_place(const Json& from, size_t places) {
  std::vector<UInt128> sums(places);
  for (PackedReader entries(from.get_binary()); !entries.at_end();) {
    const uint32_t i = entries.index(places, "sums of a place that is not there");
    sums[i] = entries.wide();
  }
  return sums;
}

Json to_json(const ExplainSums& sums) {
  Json labels = Json::object();
  for (const auto& [label, times] : sums.by_label) {
    labels[label] = by_place(times);
  }
  return {{"declared", sums.declared},
          {"w", wide(sums.w)},
          {"ww", wide(sums.ww)},
          {"xw", by_place(sums.xw)},
          {"by_label", std::move(labels)}};
}

ExplainSums read_explain(const Json& from, size_t places) {
  ExplainSums sums;
  sums.declared = from.at("declared").get<uint64_t>();
  sums.w = wide(from.at("w"));
  sums.ww = wide(from.at("ww"));
  sums.xw = read_by_place(from.at("xw"), places);
  for (const auto& [label, times] : from.at("by_label").items()) {
    sums.by_label[label] = read_by_place(times, places);
  }
  return sums;
}

Json to_json(const Losses& losses) {
  return {losses.dropped,         losses.torn,          losses.unreadable_bytes,
          losses.unmatched_waits, losses.outside_waits, losses.inferred_edges,
          losses.exact_edges,     losses.notes};
}

Losses read_losses(const Json& from) {
  Losses losses;
  losses.dropped = from.at(0).get<uint64_t>();
  losses.torn = from.at(1).get<uint64_t>();
  losses.unreadable_bytes = from.at(2).get<uint64_t>();
  losses.unmatched_waits = from.at(3).get<uint64_t>();
  losses.outside_waits = from.at(4).get<uint64_t>();
  losses.inferred_edges = from.at(5).get<uint64_t>();
  losses.exact_edges = from.at(6).get<uint64_t>();
  losses.notes = from.at(7).get<std::vector<std::string>>();
  return losses;
}

Json to_json(const Overhead& overhead) {
  return {overhead.records, overhead.dropped,   overhead.chunks,
          overhead.stalls,  overhead.record_ns, overhead.threads};
}

Overhead read_overhead(const Json& from) {
  Overhead overhead;
  overhead.records = from.at(0).get<uint64_t>();
  overhead.dropped = from.at(1).get<uint64_t>();
  overhead.chunks = from.at(2).get<uint64_t>();
  overhead.stalls = from.at(3).get<uint64_t>();
  overhead.record_ns = from.at(4).get<double>();
  if (from.size() > 5) {  // missing from files of earlier versions
    overhead.threads = from.at(5).get<uint64_t>();
  }
  return overhead;
}

Account parse(const Json& document) {
  if (document.value("format", "") != kMagic) {
    throw std::runtime_error("not a profile");
  }
  const int version = document.at("version").get<int>();
  if (version != kVersion) {
    throw std::runtime_error("profile version " + std::to_string(version) +
                             ", this program reads " + std::to_string(kVersion));
  }
  Account account;
  account.interval = document.at("interval").get<std::string>();
  account.incomplete = document.at("incomplete").get<uint64_t>();
  account.root_height = document.at("root_height").get<int>();
  std::vector<uint32_t> children;
  for (const Json& place : document.at("places")) {
    account.places.push_back(read_place(place, children));
  }
  if (account.places.empty()) {
    throw std::runtime_error("no places");
  }
  for (const Json& entry : document.at("batches")) {
    account.batches.push_back({entry.at("run").get<int64_t>(), entry.at("order").get<uint64_t>(),
                               read_sums(entry.at("sums"), account.places)});
  }
  for (const Json& tail : document.at("tails")) {
    account.tails.push_back(read_tail(tail));
  }
  for (const Json& entry : document.at("samples")) {
    account.samples.push_back(read_samples(entry));
  }
  if (account.tails.size() > account.places.size() ||
      account.samples.size() > account.places.size()) {
    throw std::runtime_error("sums of a place that is not there");
  }
  account.latencies = read_latencies(document.at("latencies"));
  uint64_t in_batches = 0;
  for (const Batch& batch : account.batches) {
    in_batches += batch.sums.n;
  }
  if (in_batches == 0 || in_batches != account.count()) {
    throw std::runtime_error("batches and latencies are not of the same intervals");
  }
  for (const auto& [label, sums] : document.at("labels").items()) {
    account.labels[label] = {sums.at(0).get<uint64_t>(), wide(sums.at(1)), wide(sums.at(2))};
  }
  read_details(document, account);
  account.explain = read_explain(document.at("explain"), account.places.size());
  account.losses = read_losses(document.at("losses"));
  account.overhead = read_overhead(document.at("overhead"));
  return account;
}

}  // namespace

std::string to_bytes(const Account& account) {
  Json document = {{"format", kMagic},
                   {"version", kVersion},
                   {"interval", account.interval},
                   {"incomplete", account.incomplete},
                   {"root_height", account.root_height},
                   {"places", Json::array()},
                   {"batches", Json::array()},
                   {"tails", Json::array()},
                   {"samples", Json::array()},
                   {"labels", Json::object()},
                   {"explain", to_json(account.explain)},
                   {"latencies", to_json(account.latencies)},
                   {"losses", to_json(account.losses)},
                   {"overhead", to_json(account.overhead)}};
  for (const Place& place : account.places) {
    document["places"].push_back(to_json(place));
  }
  for (const Batch& batch : account.batches) {
    document["batches"].push_back(
        {{"run", batch.run}, {"order", batch.order}, {"sums", to_json(batch.sums)}});
  }
  for (const TailSums& tail : account.tails) {
    document["tails"].push_back(to_json(tail));
  }
  for (const Samples& samples : account.samples) {
    document["samples"].push_back(to_json(samples));
  }
  for (const auto& [label, sums] : account.labels) {
    document["labels"][label] = {sums.n, wide(sums.x), wide(sums.xx)};
  }
  write_details(account, document);
  const std::vector<uint8_t> bytes = Json::to_msgpack(document);
  return {bytes.begin(), bytes.end()};
}

Result<Account> from_bytes(const std::string& bytes) {
  try {
    Shallow shallow;
    if (!Json::sax_parse(bytes, &shallow, nlohmann::json::input_format_t::msgpack)) {
      return fail("{}", "not a whole profile of this program: " + shallow.error);
    }
    return parse(Json::from_msgpack(bytes));
  } catch (const std::exception& error) {
    return fail("{}", std::string("not a whole profile of this program: ") + error.what());
  }
}

}  // namespace vprof::analyzer
