// Single intervals: those that a profile keeps, timelines, and the tables of all.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "helpers.h"
#include "requests.h"
#include "statistics/interval_sample.h"
#include "vprof/analyzer/details.h"
#include "vprof/analyzer/interval_times.h"
#include "vprof/analyzer/timeline.h"

using namespace vprof;

namespace {

/// Requests that call f and sometimes, within f, g; two labels.
struct Recording : test::RequestRecording {
  Recording(uint32_t pid, size_t requests) : RequestRecording(test::Order::kGWithinF) {
    add(pid, requests);
  }
  void add(uint32_t pid, size_t requests) {
    std::vector<test::Request> all;
    test::Noise noise(pid);
    for (size_t i = 0; i < requests; ++i) {
      const bool slow = i % 10 == 3;
      all.push_back({.in_f = 3000 + static_cast<int64_t>(noise.next() >> 54),
                     .in_g = slow ? 40'000 + static_cast<int64_t>(i) : 0,
                     .label = slow ? "slow" : "fast"});
    }
    RequestRecording::add(pid, all);
  }
  std::string profile_bytes(unsigned threads = 0) const {
    analyzer::Options options;
    options.threads = threads;
    options.window = 3000;
    return profile(options).bytes;
  }
};

analyzer::Details details(const std::string& bytes) {
  auto made = analyzer::details_of(bytes);
  REQUIRE(made);
  return *made;
}

uint64_t total(const std::vector<analyzer::LatencyBin>& bins) {
  return std::accumulate(bins.begin(), bins.end(), uint64_t{0},
                         [](uint64_t sum, const auto& bin) { return sum + bin.count; });
}

}  // namespace

TEST_CASE("details: histograms hold every interval once, also by label") {
  const analyzer::Details all = details(Recording(1, 3000).profile_bytes());
  CHECK(total(all.bins) == 3000);
  REQUIRE(all.labels.size() == 2);
  CHECK(all.labels[0].label == "fast");
  CHECK(total(all.labels[0].bins) == 2700);
  CHECK(total(all.labels[1].bins) == 300);
  for (const auto& label : all.labels) {
    for (const auto& bin : label.bins) {
      CHECK(bin.from_ns < bin.to_ns);
      if (bin.from_ns >= 1024) {
        CHECK((bin.to_ns - bin.from_ns) * 32 <= bin.from_ns);
      }
    }
  }
  // 3,100 to 4,123 ns; and 43,120 + i to 47,000.
  CHECK(all.labels[0].p50_ns == Approx(3612).epsilon(0.04));
  CHECK(all.labels[0].p99_ns == Approx(4113).epsilon(0.04));
  CHECK(all.labels[1].p50_ns == Approx(45'100).epsilon(0.04));
}

TEST_CASE("details: every interval is in the bin that holds its latency") {
  const analyzer::Details all = details(Recording(1, 1500).profile_bytes());
  REQUIRE(all.sampled.size() == 1500);
  std::map<std::string, std::map<uint64_t, uint64_t>> counted;
  for (const auto& one : all.sampled) {
    const auto label = std::find_if(all.labels.begin(), all.labels.end(),
                                    [&](const auto& l) { return l.label == one.label; });
    REQUIRE(label != all.labels.end());
    const auto bin = std::find_if(label->bins.begin(), label->bins.end(), [&](const auto& b) {
      return b.from_ns <= one.latency_ns && one.latency_ns < b.to_ns;
    });
    REQUIRE(bin != label->bins.end());
    ++counted[one.label][bin->from_ns];
  }
  for (const auto& label : all.labels) {
    for (const auto& bin : label.bins) {
      CHECK(counted[label.label][bin.from_ns] == bin.count);
    }
  }
}

TEST_CASE("details: sampled intervals are whole, in order of time, and bounded") {
  const analyzer::Details all = details(Recording(1, 5000).profile_bytes());
  CHECK(all.sampled.size() == analyzer::IntervalSample::kSampled);
  REQUIRE(all.worst.size() == analyzer::IntervalSample::kWorst);
  for (size_t i = 1; i < all.sampled.size(); ++i) {
    CHECK(all.sampled[i - 1].begin_ns < all.sampled[i].begin_ns);
  }
  uint64_t slow = 0;
  for (const auto& one : all.sampled) {
    REQUIRE(!one.times.empty());
    CHECK(one.times[0].node == 0);
    CHECK(one.times[0].ns == one.latency_ns);
    slow += one.label == "slow" ? 1 : 0;
  }
  CHECK(slow > 130);  // 200 of 2,000 expected, standard deviation 13
  CHECK(slow < 270);
  // The slowest requests are the last ones with g: 4,993, 4,983, ...
  for (size_t i = 1; i < all.worst.size(); ++i) {
    CHECK(all.worst[i - 1].latency_ns >= all.worst[i].latency_ns);
  }
  for (const auto& one : all.worst) {
    CHECK(one.label == "slow");
  }
}

TEST_CASE("details: nodes are numbered in pre-order") {
  const Recording recording(1, 400);
  const analyzer::Profile profile = recording.profile();
  const analyzer::Details all = details(profile.bytes);
  std::vector<const analyzer::Node*> order;
  const std::function<void(const analyzer::Node&)> visit = [&](const analyzer::Node& node) {
    order.push_back(&node);
    for (const auto& child : node.children) {
      visit(child);
    }
  };
  visit(profile.tree);
  REQUIRE(order.size() == all.nodes.size());
  std::vector<double> sums(order.size());
  for (const auto& one : all.sampled) {
    for (const auto& time : one.times) {
      sums.at(time.node) += static_cast<double>(time.ns);
    }
  }
  for (size_t i = 0; i < order.size(); ++i) {
    CAPTURE(order[i]->function);
    CHECK(sums[i] == Approx(order[i]->mean_ns * 400));  // the sample has all 400
    if (!order[i]->function_key.empty()) {
      CHECK(all.nodes[i].factor == order[i]->function_key);
    }
  }
}

TEST_CASE("details: the same for any number of threads, and for merged profiles") {
  const Recording a(1, 2500);
  const Recording b(2, 1800);
  Recording both(1, 2500);
  both.add(2, 1800);
  CHECK((a.profile_bytes(1) == a.profile_bytes(4)));
  const auto merged = analyzer::merge({{"a", a.profile_bytes()}, {"b", b.profile_bytes()}}, {});
  const auto turned = analyzer::merge({{"b", b.profile_bytes()}, {"a", a.profile_bytes()}}, {});
  REQUIRE(merged);
  REQUIRE(turned);
  CHECK((merged->bytes == turned->bytes));
  // One analysis of both has only one beginning of the recording, so the begins of the intervals
  // differ. Which intervals are kept does not.
  const analyzer::Details added = details(merged->bytes);
  const analyzer::Details whole = details(both.profile_bytes());
  const auto ids = [](const std::vector<analyzer::IntervalDetail>& list) {
    std::set<uint64_t> all;
    for (const auto& one : list) {
      all.insert(one.key);
    }
    return all;
  };
  CHECK(ids(added.sampled) == ids(whole.sampled));
  CHECK(ids(added.worst) == ids(whole.worst));
  CHECK(total(added.labels[0].bins) == total(whole.labels[0].bins));
}

TEST_CASE("details: the sample is bounded by leaves, and the same for every order and split") {
  using analyzer::IntervalSample;
  std::vector<analyzer::SampledInterval> all;
  for (uint64_t i = 0; i < 300; ++i) {
    analyzer::SampledInterval one;
    one.key = i;
    one.latency = 1000 + (i * 7919) % 300;
    one.leaves.resize(500 + (i * 104'729) % 5000);
    all.push_back(one);
  }
  const auto hash = [](uint64_t id) { return (id * 0x9e3779b97f4a7c15ull) >> 1; };
  const std::vector<uint32_t> same(1);
  IntervalSample forward, backward, first, second;
  for (size_t i = 0; i < all.size(); ++i) {
    forward.add(hash(i), all[i]);
    (i % 3 == 0 ? first : second).add(hash(i), all[i]);
    const size_t j = all.size() - 1 - i;
    backward.add(hash(j), all[j]);
  }
  IntervalSample sum;
  sum.add(second, same);
  sum.add(first, same);
  const auto keys = [](const IntervalSample& sample) {
    std::vector<IntervalSample::Key> list;
    size_t leaves = 0;
    for (const auto& [key, one] : sample.sampled.kept()) {
      list.push_back(key);
      leaves += one.leaves.size();
    }
    CHECK(leaves <= IntervalSample::kMostLeaves);
    return list;
  };
  forward.sampled.settle();
  backward.sampled.settle();
  CHECK(keys(forward).size() > 50);
  CHECK(keys(forward).size() < all.size());
  CHECK(keys(forward) == keys(backward));
  CHECK(keys(forward) == keys(sum));
}

TEST_CASE("details: the sample is the smallest hashes and the greatest latencies of all") {
  using analyzer::IntervalSample;
  constexpr uint64_t kCount = 5 * IntervalSample::kSlowest;
  const std::vector<uint32_t> same(1);
  std::vector<uint64_t> hashes, latencies;
  IntervalSample all, half;
  for (uint64_t i = 0; i < kCount; ++i) {
    analyzer::SampledInterval one;
    one.key = i;
    one.latency = (i * 7919) % kCount;
    one.leaves = {{0, one.latency}};
    hashes.push_back((i * 0x9e3779b97f4a7c15ull) >> 1);
    latencies.push_back(one.latency);
    all.add(hashes.back(), one);
    if (i % 2 == 0) {
      half.add(hashes.back(), one);
    }
  }
  std::sort(hashes.begin(), hashes.end());
  std::sort(latencies.rbegin(), latencies.rend());

  IntervalSample sum;
  sum.add(half, same);
  sum.add(all, same);  // what both have counts once
  REQUIRE(sum.sampled.kept().size() == IntervalSample::kSampled);
  REQUIRE(sum.worst.kept().size() == IntervalSample::kSlowest);
  bool equal = std::get<0>(sum.sampled.bound()) == hashes[IntervalSample::kSampled] &&
               std::get<0>(sum.worst.bound()) == ~latencies[IntervalSample::kSlowest];
  for (size_t i = 0; i < IntervalSample::kSampled; ++i) {
    equal = equal && std::get<0>(sum.sampled.kept()[i].first) == hashes[i] &&
            sum.worst.kept()[i].second.latency == latencies[i];
  }
  CHECK(equal);
}

TEST_CASE("details: tables hold every interval in full, and add up to the profile") {
  const Recording recording(1, 2000);
  std::map<std::string, uint64_t> by_path;
  std::vector<std::string> paths;
  uint64_t intervals = 0;
  analyzer::Options options;
  options.window = 3000;
  const analyzer::IntervalSink sink{
      [&](const analyzer::PlaceRow& place) -> Result<void> {
        REQUIRE(place.number == paths.size());
        paths.push_back(place.number == 0 ? "request"
                                          : paths.at(place.parent) + "/" + place.function);
        return {};
      },
      [&](const analyzer::IntervalRow& row) -> Result<void> {
        ++intervals;
        CHECK(row.times.at(0).ns == row.latency_ns);
        for (const auto& time : row.times) {
          by_path[paths.at(time.place)] += time.ns;
        }
        return {};
      }};
  const auto summary =
      analyzer::interval_times(recording.directory(), recording.sites_path(), options, sink);
  REQUIRE(summary);
  CHECK(summary->intervals == 2000);
  CHECK(intervals == 2000);
  for (const auto& [path, ns] : test::leaves(recording.profile())) {
    CAPTURE(path);
    CHECK(by_path[path] == static_cast<uint64_t>(ns));
  }
}

TEST_CASE("details: an error of the sink ends the pass") {
  const Recording recording(1, 10);
  const analyzer::IntervalSink sink{[](const analyzer::PlaceRow&) -> Result<void> { return {}; },
                                    [](const analyzer::IntervalRow&) -> Result<void> {
                                      return fail("{}", std::string("disk full"));
                                    }};
  const auto summary =
      analyzer::interval_times(recording.directory(), recording.sites_path(), {}, sink);
  REQUIRE(!summary);
  CHECK(summary.error().message == "disk full");
}

TEST_CASE("details: timelines made in one pass equal those made one by one") {
  const Recording recording(1, 500);
  const analyzer::Details all = details(recording.profile_bytes());
  std::vector<analyzer::TimelineRequest> requests;
  for (size_t i = 0; i < 5; ++i) {
    requests.push_back({all.worst[i].id, static_cast<int64_t>(all.worst[i].latency_ns)});
  }
  requests.push_back({all.worst[0].id, 1});  // no interval has this latency
  analyzer::Options options;
  options.window = 1000;
  const auto together =
      analyzer::timelines_of(recording.directory(), recording.sites_path(), requests, options);
  REQUIRE(together);
  REQUIRE(together->size() == 5);
  for (size_t i = 0; i < 5; ++i) {
    const analyzer::Timeline& one = (*together)[i];
    const auto alone =
        analyzer::timeline_of(recording.directory(), recording.sites_path(), requests[i].id, {});
    REQUIRE(alone);
    CHECK(one.id == requests[i].id);
    CHECK(one.label == "slow");
    CHECK(one.begin_ns == all.worst[i].begin_ns);
    REQUIRE(one.pieces.size() == alone->pieces.size());
    int64_t now = 0;
    for (size_t p = 0; p < one.pieces.size(); ++p) {
      CHECK(one.pieces[p].path == alone->pieces[p].path);
      CHECK(one.pieces[p].kinds.size() == one.pieces[p].path.size());
      CHECK(one.pieces[p].from_ns == now);
      now = one.pieces[p].to_ns;
    }
    CHECK(now == one.latency_ns);
  }
}
