// Profile files, adding them up, and comparing them.
#include <catch2/catch.hpp>

#include "helpers.h"
#include "profile/packed_numbers.h"
#include "requests.h"
#include "simulator.h"
#include "vprof/analyzer/diff.h"

using namespace vprof;
using analyzer::Profile;

namespace {

/// Requests that take f and, every tenth time, g; `slow` scales g, and the first fifth is slower by
/// `drift`.
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

}  // namespace

TEST_CASE("profiles: a merged one is that of one analysis, in any order") {
  const Recording a(1, 700, 20'000);
  const Recording b(2, 400, 90'000);
  Recording both(1, 700, 20'000);
  both.add(2, 400, 90'000);
  const auto merged = analyzer::merge({a.profile().sums, b.profile().sums}, {});
  const auto turned = analyzer::merge({b.profile().sums, a.profile().sums}, {});
  REQUIRE(merged);
  REQUIRE(turned);
  CHECK(merged->sums == turned->sums);
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
  // Sums of sums: three at once, or two and one.
  const Recording c(3, 300, 5'000);
  const auto at_once = analyzer::merge({a.profile().sums, b.profile().sums, c.profile().sums}, {});
  const auto stepwise = analyzer::merge({c.profile().sums, merged->sums}, {});
  REQUIRE(at_once);
  REQUIRE(stepwise);
  CHECK(at_once->sums == stepwise->sums);
}

TEST_CASE("profiles: random programs survive writing, reading and adding to themselves") {
  for (uint64_t seed = 1; seed <= 30; seed += test::kEvery) {
    const test::Simulator program(seed);
    test::ScratchDir dir;
    const auto one = analyzer::analyze(dir.path(), program.write(dir.path()), {});
    REQUIRE(one);
    const auto read = analyzer::merge({one->sums}, {});
    REQUIRE(read);
    CHECK(read->sums == one->sums);
    CHECK(test::leaves(*read) == test::leaves(*one));
    const auto twice = analyzer::merge({one->sums, one->sums}, {});
    REQUIRE(twice);
    CHECK(test::worst_violation(*twice) < 1e-9);
    CHECK(twice->interval.count == 2 * one->interval.count);
    CHECK(twice->interval.mean_ns == Approx(one->interval.mean_ns));
  }
}

TEST_CASE("profiles: what is damaged is refused in one line, wherever it is cut") {
  const std::string bytes = Recording(1, 50, 20'000).profile().sums;
  for (size_t length = 0; length < bytes.size(); length += 97 * test::kEvery) {
    const auto cut = analyzer::merge({bytes, bytes.substr(0, length)}, {});
    REQUIRE(!cut);
    CHECK(cut.error().message.rfind("2: not a whole profile", 0) == 0);
    CHECK(cut.error().message.find('\n') == std::string::npos);
  }
  const auto deep = analyzer::merge({std::string(1'000'000, '\x91')}, {});  // arrays in arrays
  REQUIRE(!deep);
  CHECK(deep.error().message == "1: not a whole profile of this program: nested too deeply");
  for (size_t at = 0; at < bytes.size();
       at += 13 * test::kEvery) {  // refused or read, but never worse
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
    (void)analyzer::merge({damaged}, {});
  }
  CHECK(!analyzer::merge({}, {}));
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
    CHECK((one.id & 0xffffffff) % 10 == 3);
    CHECK(one.ns < g->worst[2].ns);
  }
}

TEST_CASE("drift: a warm-up is told, and skipping it gives the variance of the rest") {
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
  // In milliseconds where microseconds would need more than three digits.
  std::string slow;
  for (const std::string& note : Recording(1, 3000, 5'000, 4'000'000).profile().losses.notes) {
    if (note.rfind("warm-up", 0) == 0) {
      slow = note;
    }
  }
  CAPTURE(slow);
  CHECK(slow.find("mean 3.8 ms before") != std::string::npos);
  analyzer::Options options;
  options.skip_ns = 600 * 47'000;
  const Profile rest = warming.profile(options);
  CHECK(rest.interval.count < whole.interval.count);
  CHECK(rest.interval.variance_ns2 < whole.interval.variance_ns2 / 10);
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
  // The same server twice: nothing certain.
  const analyzer::Diff same = analyzer::diff(a, Recording(3, 4000, 20'000).profile(all));
  CHECK(figure(same, "variance").ci95[0] < 1);
  CHECK(figure(same, "variance").ci95[1] > 1);
  const auto holds = [](const std::string& text, const analyzer::Diff& diff, bool certainly) {
    const auto condition = analyzer::parse_condition(text);
    REQUIRE(condition);
    return analyzer::holds(*condition, diff, certainly);
  };
  CHECK(holds("p99>1.1x", worse, false));
  CHECK(holds("p99>1.1x", worse, true));
  CHECK(!holds("p99>100x", worse, false));
  CHECK(holds("mean>5us", worse, true));
  CHECK(!holds("p99>1.1x", same, true));
  CHECK(holds("p50<=1.2x", worse, false));
  CHECK(!holds("max>2x", worse, true));  // it has no confidence interval
  for (const char* bad :
       {"", "p99", "p99>", "p98>1x", "p99>1", "p99>onex", "variance>3ms", "mean>nanx"}) {
    CHECK(!analyzer::parse_condition(bad));
  }
}

TEST_CASE("packed numbers: there and back, and nothing else") {
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

  // 2^128 and more, an endless one, and more than a narrower type holds.
  std::vector<uint8_t> too_large(18, 0xff);
  too_large.push_back(0x04);
  CHECK_THROWS_WITH(PackedReader(too_large).wide(), Catch::Contains("too large"));
  CHECK_THROWS_WITH(PackedReader(std::vector<uint8_t>(40, 0x80)).wide(),
                    Catch::Contains("too large"));
  CHECK_THROWS_WITH(PackedReader(std::vector<uint8_t>(5, 0x80)).wide(),
                    Catch::Contains("too soon"));
  CHECK_THROWS_WITH(PackedReader({0x80, 0x01}).index(128, "beyond"), Catch::Contains("beyond"));
}
