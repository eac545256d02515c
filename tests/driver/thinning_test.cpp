// Which call sites the next plan leaves out.
#include "search/thinning.h"

#include <catch2/catch.hpp>

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

/// 1,000 intervals of 1 ms, except a few long ones. A record takes 20 ns, so that 1,000 calls per
/// interval cost 2 %.
analyzer::Profile profile() {
  analyzer::Profile made;
  made.interval.count = 1000;
  made.interval.mean_ns = 3e6;
  made.interval.p50_ns = 1e6;
  made.overhead.record_ns = 20;
  made.tree = node("request", "", 1);
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

TEST_CASE("functions, rare sites and sites that matter are never left out; no site twice") {
  State state;
  // "often" at line 14 holds 2 % of the variance, so it stays although it is called often. A site
  // outside every critical path costs time as well.
  CHECK(positions(thin_plan(profile(), sites(), kCalls, state, 1)) ==
        std::vector<std::string>{"a.c:12:5", "a.c:10:5", "a.c:16:5"});
  state.demoted = {
      {.function = "dear", .position = "a.c:12:5", .calls = 1, .cost = 0.1, .since = 1}};
  CHECK(positions(thin_plan(profile(), sites(), kCalls, state, 0.01)) ==
        std::vector<std::string>{"a.c:10:5"});
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
