// The conditions of `vprof diff --fail-if`, and which profiles may be compared.
#include <catch2/catch.hpp>
#include <stdexcept>

#include "simulated_sums.h"
#include "vprof/analyzer/diff.h"

using namespace vprof;
using analyzer::Profile;

namespace {

/// Requests that call f and, every tenth time, g, which takes about `slow`.
Profile requests(uint64_t slow) {
  test::SimulatedSums made(4000);
  const uint32_t f = made.place(0, "f");
  const uint32_t g = made.place(0, "g");
  for (uint64_t i = 0; i < 4000; ++i) {
    made.add({{f, 3000 + i * 7919 % 257}, {g, i % 10 == 3 ? slow + i * 104729 % 1013 : 0}});
  }
  analyzer::Options all;
  all.least_listed = 0;
  return made.profile(all);
}

const analyzer::FigureChange& figure(const analyzer::Diff& diff, const std::string& name) {
  for (const auto& one : diff.figures) {
    if (one.name == name) {
      return one;
    }
  }
  throw std::out_of_range(name);
}

}  // namespace

TEST_CASE("conditions may have spaces, and say what they found") {
  const analyzer::Diff worse = analyzer::diff(requests(20'000), requests(60'000));
  const auto judged = [&](const std::string& text, bool certainly = false) {
    const auto condition = analyzer::parse_condition(text);
    REQUIRE(condition);
    const auto verdict = analyzer::judge(*condition, worse, certainly);
    REQUIRE(verdict);
    return *verdict;
  };
  const analyzer::Verdict p99 = judged("  p99 >  1.1 x ");
  CHECK(p99.holds);
  CHECK(p99.value == figure(worse, "p99").ratio);
  CHECK(p99.ci95 == figure(worse, "p99").ci95);
  CHECK(judged("mean>=5 us").value == figure(worse, "mean").b);

  // A factor: its share in B, and the change. A limit on a share has a confidence interval.
  const analyzer::Verdict share = judged("share(g)>10%", true);
  CHECK(share.holds);
  CHECK(share.value > 0.5);
  CHECK(share.ci95[0] < share.value);
  CHECK(share.ci95[1] > share.value);
  CHECK(!judged("share( g ) < 10 %").holds);
  CHECK(judged("change(g)>100%").holds);
  CHECK(judged("share(g)>0.5x").value > 0.9);
  CHECK(!judged("share(g)>0.5x", true).holds);  // a ratio of shares has none

  const auto error = [&](const std::string& text) {
    const auto condition = analyzer::parse_condition(text);
    REQUIRE(condition);
    const auto verdict = analyzer::judge(*condition, worse, false);
    REQUIRE(!verdict);
    return verdict.error().message;
  };
  CHECK(error("share(gg)>10%").find("did you mean 'g'?") != std::string::npos);
  CHECK(error("p99(GET)>1x").find("no label 'GET'") != std::string::npos);
}

TEST_CASE("the name of a factor in a condition: all of it, or the end of it") {
  analyzer::Diff diff;
  diff.variance_a = diff.variance_b = 100;
  const auto add = [&](const char* name, double b) {
    analyzer::FactorChange& one = diff.all_factors.emplace_back();
    one.functions = {name};
    one.b = b;
  };
  add("shop::Stock::compact", 40);
  add("shop::Cart::add", 10);
  add("shop::Stock::add", 20);
  add("wait(std::map<int, long>::at)", 5);
  const auto value = [&](const std::string& text) {
    const auto condition = analyzer::parse_condition(text);
    REQUIRE(condition);
    const auto verdict = analyzer::judge(*condition, diff, false);
    return verdict ? verdict->value : -1;
  };
  CHECK(value("share(shop::Stock::compact)>1%") == Approx(0.4));
  CHECK(value("share(compact)>1%") == Approx(0.4));
  CHECK(value("share(Cart::add)>1%") == Approx(0.1));
  CHECK(value("share(add)>1%") == -1);  // two of them
  CHECK(value("share(wait(std::map<int, long>::at))<1%") == Approx(0.05));
  CHECK(value("share(pact)>1%") == -1);
}

TEST_CASE("conditions on one label") {
  const auto labelled = [](uint64_t slow) {
    test::SimulatedSums made(2000);
    const uint32_t f = made.place(0, "f");
    for (uint64_t i = 0; i < 2000; ++i) {
      made.add({{f, 1000 + i * 7919 % 500}}, "GET");
      made.add({{f, slow + i * 104729 % 900}}, "PUT");
    }
    return made.profile();
  };
  const analyzer::Diff diff = analyzer::diff(labelled(2000), labelled(8000));
  REQUIRE(diff.labels.size() == 2);
  const auto judged = [&](const std::string& text, bool certainly) {
    const auto verdict = analyzer::judge(*analyzer::parse_condition(text), diff, certainly);
    REQUIRE(verdict);
    return *verdict;
  };
  CHECK(judged("p99(PUT)>2x", true).holds);
  CHECK(judged("mean(PUT)>8us", true).holds);
  CHECK(!judged("mean(GET)>1.05x", false).holds);
  CHECK(judged("mean(GET)<1.05x", true).holds);
  CHECK(judged("p50(GET)>1us", true).value == Approx(1250).epsilon(0.05));
  CHECK(!judged("stddev(PUT)>0.1x", true).holds);  // has no confidence interval
  CHECK(judged("stddev(PUT)>0.1x", true).remark.find("cannot hold for certain") !=
        std::string::npos);
  CHECK(judged("stddev(PUT)>0.1x", false).remark.empty());
}

TEST_CASE("the p99 of few intervals has no confidence interval: its upper end is not among them") {
  const auto requests = [](uint64_t n) {
    test::SimulatedSums made(n);
    const uint32_t f = made.place(0, "f");
    for (uint64_t i = 0; i < n; ++i) {
      made.add({{f, 1000 + i * 104729 % 1013}}, i % 2 == 0 ? "GET" : "PUT");
    }
    return made.profile().interval;
  };
  const analyzer::IntervalSummary few = requests(300);
  CHECK(few.mean_ci95[1] > 0);
  CHECK(few.p99_ci95 == std::array<double, 2>{});
  CHECK(few.labels[0].p50_ci95[1] > few.labels[0].p50_ns);
  CHECK(few.labels[0].p99_ci95 == std::array<double, 2>{});
  const analyzer::IntervalSummary many = requests(4000);
  CHECK(many.p99_ci95[0] < many.p99_ns);
  CHECK(many.p99_ci95[1] > many.p99_ns);
  CHECK(many.p99_ci95[1] < many.max_ns);
  CHECK(many.labels[0].p99_ci95[1] > 0);
}

TEST_CASE("profiles of different programs are told apart, those of versions of one are not") {
  const auto profile = [](const std::vector<std::string>& names, const char* interval = "request") {
    Profile made;
    made.interval.name = interval;
    for (const std::string& name : names) {
      analyzer::Node node;
      node.function = name.substr(0, name.find('@'));
      node.function_key = name;
      made.tree.children.push_back(node);
    }
    return made;
  };
  const Profile before = profile({"serve@a.c:1", "parse@a.c:9", "reply@a.c:20", "send@"});
  const auto differ = [&](const Profile& other) { return !analyzer::comparable(before, other); };
  CHECK(!differ(before));
  CHECK(!differ(profile({"serve@a.c:1", "lookup@b.c:7", "store@b.c:9", "drop@b.c:30"})));
  CHECK(!differ(profile({})));
  CHECK(differ(profile({"main@x.c:1", "dispatch@x.c:2", "send@", "work@y.c:3"})));
  CHECK(differ(profile({"serve@a.c:1", "parse@a.c:9", "reply@a.c:20"}, "order")));
}
