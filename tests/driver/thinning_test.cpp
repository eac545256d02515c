// Which call sites the next plan leaves out.
#include "search/thinning.h"

#include <catch2/catch.hpp>

#include "search/overhead.h"
#include "vprof/analyzer/overhead.h"

using namespace vprof;
using namespace vprof::driver;

namespace {

analyzer::Node node(const std::string& function, const std::string& location, double contribution) {
  analyzer::Node made;
  made.function = function;
  made.location = location;
  made.contribution = made.share = contribution;
  return made;
}

/// Recording adds 40 % to the time that the program is busy: each of 20 million records 2e-8.
analyzer::Profile profile() {
  analyzer::Profile made;
  made.interval.count = 1000;
  made.overhead.record_ns = 20;
  made.overhead.records = 20'000'000;
  const double records = 20e6 * analyzer::record_cost_ns(made.overhead);
  made.overhead.processor_ns = records + records / 0.4;  // recording adds 40 %
  made.tree = node("request", "a.c:1", 1);
  made.tree.children = {node("often", "a.c:10", 0.001), node("matters", "a.c:11", 0.3),
                        node("dear", "a.c:12", -0.002), node("matters_less", "a.c:13", 0.0)};
  made.tree.children[3].children = {node("often", "a.c:14", 0.02)};
  return made;
}

instrumenter::SitesFile sites() {
  using instrumenter::SiteKind;
  instrumenter::SitesFile made;
  const char* names[] = {"", "request", "often", "matters", "dear", "rare", "background"};
  for (size_t id = 1; id <= 6; ++id) {
    instrumenter::SitesFile::FunctionEntry& function = made.functions.emplace_back();
    function.id = id;
    function.name = names[id];
    function.key = function.name + "@a.c";
    function.height = 10 - static_cast<int>(id);
  }
  const auto add = [&](uint32_t id, SiteKind kind, size_t function, uint32_t line) {
    instrumenter::SitesFile::SiteEntry& site = made.sites.emplace_back();
    site.id = id;
    site.kind = kind;
    site.function = function;
    site.file = "a.c";
    site.line = line;
    site.column = 5;
  };
  add(1, SiteKind::kFunction, 1, 1);
  add(2, SiteKind::kCall, 2, 10);
  add(3, SiteKind::kCall, 3, 11);
  add(4, SiteKind::kCall, 4, 12);
  add(5, SiteKind::kCall, 5, 15);
  add(6, SiteKind::kCall, 6, 16);
  add(7, SiteKind::kCall, 2, 14);
  return made;
}

std::vector<std::string> positions(const Thinning& thinning) {
  std::vector<std::string> all;
  for (const report::Demoted& one : thinning.demoted) {
    all.push_back(one.position);
  }
  return all;
}

const std::vector<uint64_t> kCalls = {0,         9'000'000, 1'000'000, 5'000'000,
                                      2'000'000, 1'000,     500'000,   3'000'000};

}  // namespace

TEST_CASE("the most expensive sites first, until enough is saved") {
  State state;
  state.iteration = 2;
  const Thinning one = thin_plan(profile(), sites(), kCalls, state, 0.03);
  CHECK(positions(one) == std::vector<std::string>{"a.c:12:5"});
  CHECK(one.saved == Approx(0.04));
  CHECK(one.demoted[0].function == "dear");
  CHECK(one.demoted[0].calls == 2'000'000);
  CHECK(one.demoted[0].since == 3);
  CHECK(positions(thin_plan(profile(), sites(), kCalls, state, 0.05)) ==
        std::vector<std::string>{"a.c:12:5", "a.c:10:5"});
}

TEST_CASE("rare sites and sites that matter are never left out; no site twice") {
  State state;
  // A site outside every critical path costs time as well.
  CHECK(positions(thin_plan(profile(), sites(), kCalls, state, 0.065)) ==
        std::vector<std::string>{"a.c:12:5", "a.c:10:5", "a.c:16:5"});
  // "often" at line 14 holds 2 % of the variance, less than an answer: it goes last. What holds
  // 30 % stays whatever it costs, as does the interval's own function.
  CHECK(positions(thin_plan(profile(), sites(), kCalls, state, 1)) ==
        std::vector<std::string>{"a.c:12:5", "a.c:10:5", "a.c:16:5", "a.c:14:5"});
  state.demoted = {
      {.function = "dear", .position = "a.c:12:5", .calls = 1, .cost = 0.1, .since = 1}};
  CHECK(positions(thin_plan(profile(), sites(), kCalls, state, 0.01)) ==
        std::vector<std::string>{"a.c:10:5"});
}

TEST_CASE("what is passed a few times is not to blame, however little the program does") {
  analyzer::Profile small = profile();
  small.overhead.records = 240;
  const double records = 240 * analyzer::record_cost_ns(small.overhead);
  small.overhead.processor_ns = records + records / 0.4;
  const std::vector<uint64_t> few = {0, 10, 10, 10, 99, 10, 1, 100};
  CHECK(positions(thin_plan(small, sites(), few, {}, 1)) == std::vector<std::string>{"a.c:14:5"});
}

TEST_CASE("what is left out for another reason counts as saved") {
  const std::vector<report::Demoted> heavy = {{.function = "dear", .position = "a.c:12:5"}};
  CHECK(positions(thin_plan(profile(), sites(), kCalls, {}, 0.03, heavy)).empty());
  CHECK(positions(thin_plan(profile(), sites(), kCalls, {}, 0.05, heavy)) ==
        std::vector<std::string>{"a.c:10:5"});
}

TEST_CASE("the scope of an expanded function goes with its calls") {
  instrumenter::SitesFile expanded = sites();
  instrumenter::SitesFile::SiteEntry& scope = expanded.sites.emplace_back();
  scope.id = 8;
  scope.kind = instrumenter::SiteKind::kFunction;
  scope.function = 4;  // dear
  scope.file = "a.c";
  scope.line = 40;
  scope.column = 6;
  analyzer::Profile p = profile();
  CHECK(positions(thin_plan(p, expanded, kCalls, {}, 0.03)) ==
        std::vector<std::string>{"a.c:12:5", "a.c:40:6"});
  // Elsewhere the function matters, where only its scope measures it.
  p.tree.children.push_back(node("dear", "a.c:40", 0.5));
  CHECK(positions(thin_plan(p, expanded, kCalls, {}, 0.03)) ==
        std::vector<std::string>{"a.c:12:5"});
}

TEST_CASE("what passes its variance on to a measured call goes last") {
  analyzer::Profile p = profile();
  analyzer::Node& passes_on = p.tree.children[1];  // matters, 30 %
  const auto below = [&](const char* function, double part, analyzer::NodeKind kind) {
    passes_on.children.push_back(node(function, "a.c:20", part));
    passes_on.children.back().kind = kind;
  };
  below("slow", 0.299, analyzer::NodeKind::kFunction);
  below("body(matters)", 0.001, analyzer::NodeKind::kBody);
  CHECK(positions(thin_plan(p, sites(), kCalls, {}, 1)) ==
        std::vector<std::string>{"a.c:12:5", "a.c:10:5", "a.c:16:5", "a.c:14:5", "a.c:11:5"});
  // The others are enough.
  CHECK(positions(thin_plan(p, sites(), kCalls, {}, 0.12)).back() == "a.c:14:5");
  // The same where it is the path of another thread, which the request waits for.
  passes_on.kind = passes_on.children[0].kind = analyzer::NodeKind::kBlame;
  CHECK(positions(thin_plan(p, sites(), kCalls, {}, 1)).back() == "a.c:11:5");
  // It waits itself.
  below("wait(read)", 0.05, analyzer::NodeKind::kWait);
  CHECK(positions(thin_plan(p, sites(), kCalls, {}, 1)).back() == "a.c:14:5");
  // It calls what waits: without it, `nanosleep` would stand alone.
  passes_on.children.pop_back();
  passes_on.children[0].function_key = "nanosleep@";
  CHECK(positions(thin_plan(p, sites(), kCalls, {}, 1)).back() == "a.c:14:5");
  passes_on.children[0].function_key = "slow@a.c:90";
  CHECK(positions(thin_plan(p, sites(), kCalls, {}, 1)).back() == "a.c:11:5");
}

TEST_CASE("sites that are only in the way go with the calls of the function around them") {
  // Two sites within dear(): one is never passed, the other one holds some of the variance.
  instrumenter::SitesFile inner = sites();
  const auto add = [&](uint32_t id, size_t function, uint32_t line) {
    instrumenter::SitesFile::SiteEntry& site = inner.sites.emplace_back();
    site.id = id;
    site.kind = instrumenter::SiteKind::kCall;
    site.function = function;
    site.parent = 4;  // dear
    site.file = "a.c";
    site.line = line;
    site.column = 9;
  };
  add(8, 5, 50);
  add(9, 3, 51);
  analyzer::Profile p = profile();
  p.tree.children.push_back(node("matters", "a.c:51", 0.02));
  std::vector<uint64_t> calls = kCalls;
  calls.insert(calls.end(), {0, 10});
  State state;
  state.iteration = 2;
  CHECK(burdens(p, inner, calls, state).empty());  // dear() is measured
  const report::Demoted dear{
      .function = "dear", .key = "dear@a.c", .position = "a.c:12:5", .calls = 2'000'000};
  state.demoted = {dear};
  const std::vector<report::Demoted> found = burdens(p, inner, calls, state);
  REQUIRE(found.size() == 1);
  CHECK(found[0].position == "a.c:50:9");
  CHECK(found[0].function == "rare");
  CHECK(found[0].within == "dear");
  CHECK(found[0].calls == 0);
  CHECK(found[0].since == 3);
  // A tenth of a record for each call, shared by two sites.
  CHECK(found[0].cost == Approx(2e6 * 2e-8 / 10 / 2));
  state.demoted.push_back(found[0]);
  CHECK(burdens(p, inner, calls, state).empty());
  // Called too seldom to matter.
  state.demoted = {dear};
  state.demoted[0].calls = 1000;
  CHECK(burdens(p, inner, calls, state).empty());
  // Per interval: 1,000 of them.
  state.demoted[0].heavy_in = "all intervals";
  CHECK(burdens(p, inner, calls, state).size() == 1);
}

TEST_CASE("functions that parked time is named after stay") {
  for (const char* name : {"parked(dear)", "parked(dear), resumed by often",
                           "parked(often), resumed by dear", "parked, resumed by dear"}) {
    CAPTURE(name);
    analyzer::Profile p = profile();
    p.tree.children.push_back(node(name, "", 0.5));
    p.tree.children.back().kind = analyzer::NodeKind::kParked;
    CHECK(std::ranges::count(positions(thin_plan(p, sites(), kCalls, {}, 1)), "a.c:12:5") == 0);
  }
  analyzer::Profile p = profile();
  p.tree.children.push_back(node("parked(dearest), resumed by nobody dear", "", 0.5));
  p.tree.children.back().kind = analyzer::NodeKind::kParked;
  CHECK(std::ranges::count(positions(thin_plan(p, sites(), kCalls, {}, 1)), "a.c:12:5") == 1);
}

TEST_CASE("several sites at one place are one") {
  instrumenter::SitesFile doubled = sites();
  instrumenter::SitesFile::SiteEntry more = doubled.sites[1];
  more.id = 8;
  doubled.sites.push_back(more);
  std::vector<uint64_t> calls = kCalls;
  calls.push_back(1'500'000);
  const Thinning thinning = thin_plan(profile(), doubled, calls, State{}, 0.01);
  REQUIRE(positions(thinning) == std::vector<std::string>{"a.c:10:5"});
  CHECK(thinning.demoted[0].calls == 2'500'000);
  CHECK(thin_plan(profile(), {}, calls, State{}, 1).demoted.empty());
}

namespace {

/// 100,000 requests of 10 us, and 20 of 7 ms, which make nearly all of the variance: each calls
/// dear() 100,000 times, and from there matters().
analyzer::Profile with_a_loop() {
  analyzer::Profile p = profile();
  p.tree.children[1].share = p.tree.children[1].contribution = 0.9;
  const auto group = [](const char* label, double from, uint64_t count, double latency,
                        double deviation, uint64_t records) {
    return analyzer::GroupCost{label, from, count, latency, deviation, records};
  };
  const uint64_t loop = 20 * (3 * 100'000 + 5);
  p.overhead.groups = {group("", 0, 100'020, 100'000 * 1e4 + 20 * 15e6, 1, loop + 200'000),
                       group("", 8e6, 20, 20 * 15e6, 0.99, loop),
                       group("keys", 0, 20, 20 * 15e6, 0.99, loop),
                       group("get", 0, 100'000, 100'000 * 1e4, 0.01, 200'000)};
  const std::vector<uint64_t> slow = {0, 20, 0, 2'000'000, 2'000'000, 0, 0, 60};
  p.group_calls = {
      {0, 100'020, 100'000, 2'000'000, 2'000'000, 0, 0, 60}, slow, slow, {0, 100'000, 100'000}};
  return p;
}

}  // namespace

TEST_CASE("calls that one slow interval makes many times are left out, whatever they explain") {
  State state;
  state.iteration = 4;
  const auto heavy = heavy_sites(with_a_loop(), sites(), state, 0.05);
  REQUIRE(heavy.size() == 2);
  // Equally often, so the inner one comes first. Its cost: 100,000 records of an interval.
  CHECK(heavy[0].function == "dear");
  CHECK(heavy[1].function == "matters");
  CHECK(heavy[0].key == "dear@a.c");
  CHECK(heavy[0].heavy_in == "intervals of more than 8.00 ms");
  CHECK(heavy[0].calls == 100'000);
  CHECK(heavy[0].since == 5);
  const double loop = 100'000 * analyzer::record_cost_ns(with_a_loop().overhead);
  CHECK(heavy[0].cost == Approx(loop / (15e6 - 3.00005 * loop)));
  // Neither belongs to the next plan, so neither is expanded.
  state.demoted = heavy;
  CHECK(is_settled(state, "dear@a.c"));
  CHECK(!is_settled(state, "often@a.c"));
  CHECK(heavy_sites(with_a_loop(), sites(), state, 0.05).empty());
}

TEST_CASE("the outermost calls of a loop stay as long as they are within the budget") {
  const double loop = 100'000 * analyzer::record_cost_ns(with_a_loop().overhead);
  const double one = loop / (15e6 - 3.00005 * loop);
  const auto heavy = heavy_sites(with_a_loop(), sites(), {}, one * 1.01);
  REQUIRE(heavy.size() == 1);
  CHECK(heavy[0].function == "dear");
  CHECK(heavy_sites(with_a_loop(), sites(), {}, 2 * one * 1.01).empty());
}

TEST_CASE(
    "short intervals with few calls each are left alone, and so are groups without variance") {
  analyzer::Profile p = with_a_loop();
  // Two records are more than half of each GET, but nothing in it is called many times.
  p.overhead.groups = {p.overhead.groups[3]};
  p.overhead.groups[0].deviation = 1;
  p.overhead.groups[0].latency_ns = 100'000 * 100.0;
  p.group_calls = {p.group_calls[3]};
  CHECK(heavy_sites(p, sites(), {}, 0.05).empty());
  p = with_a_loop();
  for (analyzer::GroupCost& group : p.overhead.groups) {
    group.deviation = 0.001;
  }
  CHECK(heavy_sites(p, sites(), {}, 0.05).empty());
}

TEST_CASE("a thinner plan is measured if intervals were distorted, or if it saves enough") {
  Session session{.config = {},
                  .workspace = Workspace("/nowhere"),
                  .locations = {},
                  .state = {},
                  .lock = Lock()};
  session.config.overhead_budget = 0.05;  // recording adds 40 %
  session.state.iteration = 1;
  report::Demoted one{.function = "f", .position = "a.c:1:1", .calls = 9, .cost = 0.08, .since = 2};
  CHECK(!worth_thinning(session, profile()));
  session.state.demoted = {one};
  CHECK(!worth_thinning(session, profile()));
  session.state.demoted[0].cost = 0.09;
  CHECK(worth_thinning(session, profile()));
  session.state.demoted[0].since = 1;  // left out already
  CHECK(!worth_thinning(session, profile()));
  one.heavy_in = "keys";
  session.state.demoted = {one};
  CHECK(worth_thinning(session, profile()));
}
