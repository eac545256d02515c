// Profile files: their format, merging, and comparing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "helpers.h"
#include "profile/packed_numbers.h"
#include "requests.h"
#include "simulator.h"
#include "vprof/analyzer/diff.h"

using namespace vprof;
using analyzer::Profile;

namespace {

/// Requests that call f and, every tenth time, g. `slow` is the time in g; the first fifth of the
/// requests is slower by `drift`.
struct Recording : test::RequestRecording {
  Recording(uint32_t pid, int requests, int64_t slow, int64_t drift = 0) {
    add(pid, requests, slow, drift);
  }
  void add(uint32_t pid, int requests, int64_t slow, int64_t drift = 0) {
    std::vector<test::Request> all;
    test::Noise random(pid);
    for (int i = 0; i < requests; ++i) {
      const auto noise = static_cast<int64_t>(random.next() >> 54);
      all.push_back({.in_f = 3000 + noise + (i < requests / 5 ? drift : 0),
                     .in_g = i % 10 == 3 ? slow + 20 * noise : 0});
    }
    RequestRecording::add(pid, all);
  }
};

const analyzer::FigureChange& figure(const analyzer::Diff& diff, const std::string& name) {
  for (const auto& one : diff.figures) {
    if (one.name == name) {
      return one;
    }
  }
  throw std::out_of_range(name);
}

/// A recording that fills every part of a profile: two labels, declared work, a rare factor.
Profile golden_recording() {
  std::vector<test::Request> all;
  test::Noise noise(7);
  for (int i = 0; i < 120; ++i) {
    const auto jitter = static_cast<int64_t>(noise.next() >> 54);
    all.push_back({.in_f = 3000 + jitter,
                   .in_g = i % 10 == 3 ? 20'000 + 20 * jitter : 0,
                   .label = i % 3 == 0 ? "read" : "write",
                   .work = {static_cast<uint64_t>(i % 7)}});
  }
  test::RequestRecording recording;
  recording.add(4711, all);
  return recording.profile();
}

/// The profile that an earlier version wrote; VPROF_UPDATE_GOLDEN replaces it.
std::string golden_bytes(const std::string& actual) {
  const std::string path = std::string(GOLDEN_DIR) + "/profile.vprof";
  if (std::getenv("VPROF_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
  }
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Merges profiles named 1, 2, ...
Result<Profile> merge(const std::vector<std::string>& all) {
  std::vector<analyzer::ProfileBytes> profiles;
  for (const std::string& bytes : all) {
    profiles.push_back({std::to_string(profiles.size() + 1) + ".vprof", bytes});
  }
  return analyzer::merge(profiles, {});
}

}  // namespace

TEST_CASE("profiles: the bytes of the format are those of the golden file") {
  const std::string written = golden_recording().bytes;
  const std::string golden = golden_bytes(written);
  REQUIRE(!golden.empty());
  CHECK((written == golden));
  const auto read = merge({golden});
  REQUIRE(read);
  CHECK((read->bytes == golden));
}

TEST_CASE("profiles: one of version 0.1 does not know how instances vary together") {
  std::ifstream file(std::string(GOLDEN_DIR) + "/profile-0.1.vprof", std::ios::binary);
  const auto read = merge({std::string{std::istreambuf_iterator<char>(file), {}}});
  REQUIRE(read);
  CHECK(read->interval.count == 120);
  const auto& notes = read->losses.notes;
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("earlier version") != std::string::npos;
  }));
  const Profile now = golden_recording();
  REQUIRE(read->factors.size() == now.factors.size());
  for (size_t i = 0; i < now.factors.size(); ++i) {
    CHECK(read->factors[i].functions == now.factors[i].functions);
    CHECK(read->factors[i].share == Approx(now.factors[i].share));
  }
}

TEST_CASE("profiles: a file of an earlier version has no number of threads, nor records by group") {
  nlohmann::json old = nlohmann::json::from_msgpack(golden_recording().bytes);
  old["overhead"].erase(old["overhead"].begin() + 5, old["overhead"].end());
  old.erase("records");
  const std::vector<uint8_t> bytes = nlohmann::json::to_msgpack(old);
  const auto read = merge({std::string(bytes.begin(), bytes.end())});
  REQUIRE(read);
  CHECK(read->overhead.groups.empty());
  CHECK(read->overhead.threads == 0);
  CHECK(read->overhead.run_ns == 0);
  CHECK(read->interval.count == 120);
}

TEST_CASE("profiles: merging gives the profile of one analysis of all recordings, in any order") {
  const Recording a(1, 700, 20'000);
  const Recording b(2, 400, 90'000);
  Recording both(1, 700, 20'000);
  both.add(2, 400, 90'000);
  const auto merged = merge({a.profile().bytes, b.profile().bytes});
  const auto turned = merge({b.profile().bytes, a.profile().bytes});
  REQUIRE(merged);
  REQUIRE(turned);
  CHECK(merged->bytes == turned->bytes);
  const Profile whole = both.profile();
  CHECK(merged->interval.count == 1100);
  CHECK(merged->interval.variance_ns2 == whole.interval.variance_ns2);
  CHECK(merged->interval.p99_ns == whole.interval.p99_ns);
  CHECK(test::leaves(*merged) == test::leaves(whole));
  REQUIRE(merged->factors.size() == whole.factors.size());
  for (size_t i = 0; i < whole.factors.size(); ++i) {
    CHECK(merged->factors[i].functions == whole.factors[i].functions);
    CHECK(merged->factors[i].contribution == whole.factors[i].contribution);
    CHECK(merged->factors[i].tail_share == whole.factors[i].tail_share);
    REQUIRE(merged->factors[i].worst.size() == whole.factors[i].worst.size());
    for (size_t j = 0; j < whole.factors[i].worst.size(); ++j) {
      CHECK(merged->factors[i].worst[j].id == whole.factors[i].worst[j].id);
    }
  }
  // Merging merged profiles: three at once, or two and then one.
  const Recording c(3, 300, 5'000);
  const auto at_once = merge({a.profile().bytes, b.profile().bytes, c.profile().bytes});
  const auto stepwise = merge({c.profile().bytes, merged->bytes});
  REQUIRE(at_once);
  REQUIRE(stepwise);
  CHECK(at_once->bytes == stepwise->bytes);
}

TEST_CASE("profiles: those of random programs survive writing, reading and merging") {
  for (uint64_t seed = 1; seed <= 30; seed += test::kEvery) {
    const test::Simulator program(seed);
    test::ScratchDir dir;
    const auto one = analyzer::analyze(dir.path(), program.write(dir.path()), {});
    REQUIRE(one);
    const auto read = merge({one->bytes});
    REQUIRE(read);
    CHECK(read->bytes == one->bytes);
    CHECK(test::leaves(*read) == test::leaves(*one));
    const auto twice = merge({one->bytes, one->bytes});
    REQUIRE(twice);
    CHECK(test::worst_violation(*twice) < 1e-9);
    CHECK(twice->interval.count == 2 * one->interval.count);
    CHECK(twice->interval.mean_ns == Approx(one->interval.mean_ns));
  }
}

TEST_CASE("profiles: a damaged file is refused in one line, wherever it is cut") {
  const std::string bytes = Recording(1, 50, 20'000).profile().bytes;
  for (size_t length = 0; length < bytes.size(); length += 97 * test::kEvery) {
    const auto cut = merge({bytes, bytes.substr(0, length)});
    REQUIRE(!cut);
    CHECK(cut.error().message.rfind("2.vprof: not a whole profile", 0) == 0);
    CHECK(cut.error().message.find('\n') == std::string::npos);
  }
  const auto deep = merge({std::string(1'000'000, '\x91')});  // arrays in arrays
  REQUIRE(!deep);
  CHECK(deep.error().message == "1.vprof: not a whole profile of this program: nested too deeply");
  // Damage that goes unnoticed is read, but nothing crashes.
  for (size_t at = 0; at < bytes.size(); at += 13 * test::kEvery) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
    (void)merge({damaged});
  }
  CHECK(!merge({}));
}

TEST_CASE("exemplars: worst and typical intervals of a factor") {
  const Profile profile = Recording(1, 1000, 50'000).profile();
  const analyzer::Factor* g = test::find_factor(profile, "g");
  REQUIRE(g != nullptr);
  REQUIRE(g->worst.size() == 3);
  CHECK(g->worst[0].ns >= g->worst[1].ns);
  CHECK(g->worst[0].latency_ns > g->worst[0].ns);
  CHECK(g->worst[0].ns > 50'000 + 20 * 1000);
  REQUIRE(g->typical.size() == 3);
  for (const analyzer::Exemplar& one : g->typical) {
    CHECK((one.key & 0xffffffff) % 10 == 3);
    CHECK(one.ns < g->worst[2].ns);
  }
}

TEST_CASE("the part of the variance that is in the five slowest intervals is known, and told") {
  const auto with_slow = [](int slow) {
    std::vector<test::Request> all;
    for (int i = 0; i < 2000; ++i) {
      all.push_back({.in_f = 3000 + (i < slow ? 1'000'000 : 0), .in_g = 0});
    }
    test::RequestRecording recording;
    recording.add(1, all);
    return recording.profile();
  };
  const auto is_told = [](const Profile& profile) {
    return std::ranges::any_of(profile.losses.notes, [](const std::string& note) {
      return note.starts_with("the 5 slowest intervals carry");
    });
  };
  CHECK(with_slow(2).interval.slowest_part > 0.99);
  CHECK(is_told(with_slow(2)));
  const Profile ten = with_slow(10);
  CHECK(ten.interval.slowest_part == Approx(0.4975).epsilon(0.01));  // half of (1 - 10 / 2000)
  CHECK_FALSE(is_told(ten));
}

TEST_CASE("drift: a warm-up is reported, and skipping it leaves the variance of the rest") {
  const Profile steady = Recording(1, 3000, 5'000).profile();
  for (const std::string& note : steady.losses.notes) {
    CHECK(note.find("warm-up") == std::string::npos);
  }
  const Recording warming(1, 3000, 5'000, 40'000);
  const Profile whole = warming.profile();
  std::string found;
  for (const std::string& note : whole.losses.notes) {
    if (note.rfind("warm-up", 0) == 0) {
      found = note;
    }
  }
  CAPTURE(found);
  REQUIRE(found.find("--skip") != std::string::npos);
  CHECK(found.find(" us before ") != std::string::npos);
  // Times have three significant digits and a unit that fits.
  std::string slow;
  for (const std::string& note : Recording(1, 3000, 5'000, 4'000'000).profile().losses.notes) {
    if (note.rfind("warm-up", 0) == 0) {
      slow = note;
    }
  }
  CAPTURE(slow);
  CHECK(slow.find("mean 3.80 ms before") != std::string::npos);
  analyzer::Options options;
  options.skip_ns = 600 * 47'000;
  const Profile rest = warming.profile(options);
  CHECK(rest.interval.count < whole.interval.count);
  CHECK(rest.interval.variance_ns2 < whole.interval.variance_ns2 / 10);
}

TEST_CASE("drift: where it is no part of the variance, the mean is not that of a steady state") {
  const auto note_of = [](int64_t slow) {
    std::vector<test::Request> all;
    for (int i = 0; i < 3000; ++i) {
      all.push_back({.in_f = 3000 + (i < 2400 ? 0 : 4000), .in_g = i % 10 == 3 ? slow : 0});
    }
    test::RequestRecording recording;
    recording.add(1, all);
    for (const std::string& note : recording.profile().losses.notes) {
      if (note.rfind("drift", 0) == 0) {
        return note;
      }
    }
    return std::string();
  };
  const std::string of_variance = note_of(5'000);
  CAPTURE(of_variance);
  CHECK(of_variance.find("not the variance of a steady state") != std::string::npos);
  const std::string of_mean = note_of(100'000);
  CAPTURE(of_mean);
  CHECK(of_mean.find("; 0.26 % of the variance; this is not the mean of a steady state") !=
        std::string::npos);
}

TEST_CASE("diff: figures, factors, and conditions") {
  analyzer::Options all;
  all.least_listed = 0;
  const Profile a = Recording(1, 4000, 20'000).profile(all);
  const Profile b = Recording(2, 4000, 60'000).profile(all);
  const analyzer::Diff worse = analyzer::diff(a, b);
  CHECK(figure(worse, "variance").ratio ==
        Approx(b.interval.variance_ns2 / a.interval.variance_ns2));
  CHECK(figure(worse, "p99").ci95[0] > 1.5);
  REQUIRE(!worse.factors.empty());
  CHECK(worse.factors[0].functions == std::vector<std::string>{"g"});
  CHECK(worse.factors[0].significant);
  CHECK(worse.factors[0].change > 1);
  // Two recordings of the same server: no change is certain.
  const analyzer::Diff same = analyzer::diff(a, Recording(3, 4000, 20'000).profile(all));
  CHECK(figure(same, "variance").ci95[0] < 1);
  CHECK(figure(same, "variance").ci95[1] > 1);
  const auto holds = [](const std::string& text, const analyzer::Diff& diff, bool certainly) {
    const auto condition = analyzer::parse_condition(text);
    REQUIRE(condition);
    const auto verdict = analyzer::judge(*condition, diff, certainly);
    REQUIRE(verdict);
    return verdict->holds;
  };
  CHECK(holds("p99>1.1x", worse, false));
  CHECK(holds("p99>1.1x", worse, true));
  CHECK(!holds("p99>100x", worse, false));
  CHECK(holds("mean>5us", worse, true));
  CHECK(!holds("p99>1.1x", same, true));
  CHECK(holds("p50<=1.2x", worse, false));
  CHECK(!holds("max>2x", worse, true));  // the maximum has no confidence interval
  for (const char* bad : {"", " ", "p99", "p99>", "p98>1x", "p99>1", "p99>onex", "variance>3ms",
                          "mean>nanx", ">1x", "max(GET)>1x", "share()>1%", "share(f)>1ms",
                          "share(f)", "change(f)>1x", "p99(GET>1x", "p99>1%"}) {
    CAPTURE(bad);
    CHECK(!analyzer::parse_condition(bad));
  }
}

namespace {

analyzer::Profile nested_calls(uint64_t seed, int64_t in_f, int64_t in_g, bool always) {
  test::Noise noise(seed);
  std::vector<test::Request> requests;
  for (int i = 0; i < 3000; ++i) {
    const auto part = [&](int64_t most) {
      return most == 0 ? 0 : static_cast<int64_t>((noise.next() >> 33) % uint64_t(most));
    };
    const int64_t own = 1000 + part(in_f);
    const bool calls_g = always || i == 1500;
    requests.push_back({own, calls_g ? 20 + part(in_g) : 0});
  }
  test::RequestRecording recording(test::Order::kGWithinF);
  recording.add(1, requests);
  analyzer::Options all;
  all.least_listed = 0;
  return recording.profile(all);
}

}  // namespace

TEST_CASE("diff: a body that is all of its function in one run is the same as in the other") {
  // f calls g in one request of B, and never in A: there body(f) is f.
  const Profile a = [] {
    test::Noise noise(1);
    std::vector<test::Request> requests;
    for (int i = 0; i < 3000; ++i) {
      requests.push_back({1000 + static_cast<int64_t>((noise.next() >> 33) % 5000), 0});
    }
    test::RequestRecording recording(test::Order::kGWithinF);
    recording.add(1, requests);
    analyzer::Options all;
    all.least_listed = 0;
    return recording.profile(all);
  }();
  const Profile b = nested_calls(2, 5000, 5, false);
  for (const auto& [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    for (const analyzer::FactorChange& change : analyzer::diff(*x, *y).factors) {
      CAPTURE(change.functions[0], change.change);
      CHECK(std::abs(change.change) < 0.2);
      CHECK(!change.significant);
    }
  }
  // Where it is so in both, f says it.
  for (const analyzer::FactorChange& change : analyzer::diff(a, a).factors) {
    CHECK(change.functions[0] != "body(f)");
  }
}

TEST_CASE("diff: what changed within something else that changed says so") {
  const Profile a = nested_calls(1, 3000, 3000, true);
  const Profile b = nested_calls(2, 3000, 9000, true);
  const std::vector<analyzer::FactorChange> changes = analyzer::diff(a, b).factors;
  REQUIRE(changes.size() >= 2);
  CHECK(changes[0].functions == std::vector<std::string>{"f"});
  CHECK(changes[0].within.empty());
  CHECK(changes[0].depth == 0);
  CHECK(changes[1].functions == std::vector<std::string>{"g"});
  CHECK(changes[1].within == "f");
  CHECK(changes[1].depth == 1);
  double outermost = 0;
  for (const analyzer::FactorChange& change : changes) {
    outermost +=
        change.kind == analyzer::FactorKind::kVariance && change.depth == 0 ? change.change : 0;
  }
  CHECK(outermost == Approx(figure(analyzer::diff(a, b), "variance").ratio - 1).margin(0.02));
}

TEST_CASE("packed numbers: what is written is read back, and damage is refused") {
  using analyzer::PackedReader;
  using analyzer::UInt128;
  const UInt128 most = ~UInt128{0};
  const std::vector<UInt128> all{0,        1,   127, 128, UINT64_MAX, UInt128{UINT64_MAX} + 1,
                                 most - 1, most};
  analyzer::PackedWriter writer;
  for (const UInt128 one : all) {
    writer.add(one);
  }
  const std::vector<uint8_t> bytes = writer.take();
  PackedReader reader(bytes);
  for (const UInt128 one : all) {
    CHECK((reader.wide() == one));
  }
  CHECK(reader.at_end());
  CHECK_THROWS_WITH(reader.wide(), Catch::Contains("too soon"));

  // 2^128 and more, a number without an end, and one that its type cannot hold.
  std::vector<uint8_t> too_large(18, 0xff);
  too_large.push_back(0x04);
  CHECK_THROWS_WITH(PackedReader(too_large).wide(), Catch::Contains("too large"));
  CHECK_THROWS_WITH(PackedReader(std::vector<uint8_t>(40, 0x80)).wide(),
                    Catch::Contains("too large"));
  CHECK_THROWS_WITH(PackedReader(std::vector<uint8_t>(5, 0x80)).wide(),
                    Catch::Contains("too soon"));
  CHECK_THROWS_WITH(PackedReader({0x80, 0x01}).index(128, "beyond"), Catch::Contains("beyond"));
}
