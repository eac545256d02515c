// What is ranked first where variances mislead: alternatives, functions that even each other out,
// functions called from many places, instances within instances. The figures are computed by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "simulated_sums.h"

using namespace vprof;
using namespace vprof::analyzer;
using test::listed_factor;
using test::SimulatedSums;

namespace {

constexpr uint64_t kMany = 480;  // intervals, a multiple of what the cases repeat

std::string first_of(SimulatedSums made, Ranking ranking = Ranking::kShare) {
  Options options;
  options.ranking = ranking;
  const Profile profile = made.profile(options);
  return profile.factors.empty() ? "" : profile.factors[0].functions[0];
}

/// Six handlers that take 400 each, one of which runs, and a function that takes 0 or 80.
SimulatedSums six_handlers() {
  SimulatedSums made(kMany);
  std::vector<uint32_t> handlers;
  for (const char* name : {"get", "put", "list", "copy", "move", "drop"}) {
    handlers.push_back(made.place(0, name));
  }
  const uint32_t varying = made.place(0, "varying");
  for (uint64_t i = 0; i < kMany; ++i) {
    made.add({{handlers[i % 6], 400}, {varying, i / 6 % 2 == 0 ? 80 : 0}});
  }
  return made;
}

}  // namespace

TEST_CASE("alternatives that take the same time are not the cause") {
  SimulatedSums made = six_handlers();
  const Profile profile = made.profile();
  REQUIRE(!profile.factors.empty());
  CHECK(profile.factors[0].functions == std::vector<std::string>{"varying"});
  CHECK(profile.factors[0].share == Approx(1));
  CHECK(profile.factors[0].significant);
  const Factor* get = listed_factor(profile, {"get"});
  REQUIRE(get != nullptr);
  CHECK(get->share == Approx(0).margin(1e-12));
  CHECK(get->contribution == Approx(400.0 * 400 * 5 / 36 / 1600));  // 1389 %
  CHECK(!get->significant);
  CHECK(get->rank > 1);
  CHECK(get->variance_rank >= 1);  // the papers' ranking stands beside
  CHECK(first_of(made, Ranking::kVariance) != "varying");
}

TEST_CASE("the cost of alternatives that differ is theirs together") {
  // One of two runs, at 100 or 300; shares -1/2 and 3/2, whose sum is the variance of the mix.
  SimulatedSums made(kMany);
  const uint32_t serve = made.place(0, "serve");
  const uint32_t cheap = made.place(serve, "cheap");
  const uint32_t dear = made.place(serve, "dear");
  const uint32_t body = made.place(serve, "", NodeKind::kBody);
  for (uint64_t i = 0; i < kMany; ++i) {
    made.add({{i % 2 == 0 ? cheap : dear, i % 2 == 0 ? 100 : 300}, {body, 10}});
  }
  const Profile profile = made.profile();
  CHECK(listed_factor(profile, {"serve"})->share == Approx(1));
  CHECK(listed_factor(profile, {"serve"})->weight ==
        Approx(1));  // neither of them alone explains it
  CHECK(listed_factor(profile, {"cheap"})->share == Approx(-0.5));
  CHECK(listed_factor(profile, {"dear"})->share == Approx(1.5));
}

TEST_CASE("two functions that even each other out are not the cause") {
  SimulatedSums made(kMany);
  const uint32_t fetch = made.place(0, "fetch");
  const uint32_t pad = made.place(0, "pad");
  const uint32_t log = made.place(0, "log");
  for (uint64_t i = 0; i < kMany; ++i) {
    const uint64_t took = 10 * (i % 4 + 1);
    made.add({{fetch, took}, {pad, 50 - took}, {log, i / 4 % 2 == 0 ? 8 : 0}});
  }
  CHECK(first_of(made) == "log");
  const Profile profile = made.profile();
  for (const char* name : {"fetch", "pad"}) {
    const Factor* factor = listed_factor(profile, {name});
    REQUIRE(factor != nullptr);
    CHECK(factor->contribution == Approx(125.0 / 16));
    CHECK(factor->share == Approx(0).margin(1e-12));
    CHECK(factor->weight == Approx(0).margin(1e-12));
  }
  const Factor* pair = listed_factor(profile, {"fetch", "pad"});
  REQUIRE(pair != nullptr);
  CHECK(pair->contribution == Approx(-250.0 / 16));
  CHECK(profile.factors.back().functions == pair->functions);
}

TEST_CASE("what may be chance does not rank above what is certain and large") {
  std::mt19937_64 random(1);
  int limited = 0;
  for (int run = 0; run < 100; ++run) {
    constexpr uint64_t kFew = 40;
    SimulatedSums made(kFew);
    const uint32_t pad = made.place(0, "pad", NodeKind::kWait);
    const uint32_t fetch = made.place(0, "fetch");
    const uint32_t log = made.place(0, "log");
    for (uint64_t i = 0; i < kFew; ++i) {
      const uint64_t took = random() % 3000;
      made.add({{fetch, took}, {pad, 3000 - took}, {log, random() % 500}});
    }
    const Options options;
    const std::vector<Factor> factors = made.profile(options).factors;
    for (size_t i = 0; i < factors.size(); ++i) {
      for (size_t j = i + 1; j < factors.size(); ++j) {
        const bool chance = !factors[i].significant && factors[j].significant;
        CHECK_FALSE((chance && factors[j].weight >= options.threshold));
      }
      limited += factors[i].score < 0.999 * factors[i].specificity * factors[i].weight ? 1 : 0;
    }
  }
  CHECK(limited > 10);
}

TEST_CASE("one function under eight callers is one variable") {
  SimulatedSums made(kMany);
  std::vector<uint32_t> slow;
  for (int i = 0; i < 8; ++i) {
    const uint32_t caller = made.place(0, "caller" + std::to_string(i));
    slow.push_back(made.place(caller, "slow"));
    made.place(caller, "", NodeKind::kBody);
  }
  for (uint64_t i = 0; i < kMany; ++i) {
    made.add({{slow[i % 8], i / 8 % 2 == 0 ? 110 : 10}});
  }
  const Profile profile = made.profile();
  CHECK(profile.factors[0].functions == std::vector<std::string>{"slow"});
  CHECK(profile.factors[0].share == Approx(1));
  CHECK(profile.factors[0].contribution == Approx(1));
  CHECK(profile.factors[0].ci95[0] == Approx(1));  // in every batch
  CHECK(profile.factors[0].instances.size() == 8);
  CHECK(profile.factors[0].instances[0].share == Approx(0.125));
}

TEST_CASE("the contribution of a function holds the covariance of its instances") {
  SimulatedSums made(kMany);
  const uint32_t a = made.place(0, "a");
  const uint32_t b = made.place(0, "b");
  const uint32_t in_a = made.place(a, "f");
  const uint32_t in_b = made.place(b, "f");
  const uint32_t rest = made.place(0, "rest");
  for (uint64_t i = 0; i < kMany; ++i) {
    const uint64_t s = i % 2 == 0 ? 10 : 30;
    made.add({{in_a, s}, {in_b, s}, {rest, i / 2 % 2 == 0 ? 0 : 20}});
  }
  // Var(f) = 4 * 100, Var(latency) = 400 + 100; instance by instance it would be 200.
  const Profile profile = made.profile();
  const Factor* f = listed_factor(profile, {"f"});
  REQUIRE(f != nullptr);
  CHECK(f->contribution == Approx(0.8));
  CHECK(f->variance_ns2 == Approx(400));
  CHECK(f->share == Approx(0.8));
}

TEST_CASE("an instance within another one, across a wait, does not count twice") {
  SimulatedSums made(kMany);
  const uint32_t outer = made.place(0, "f");
  const uint32_t wait = made.place(outer, "wait(m)", NodeKind::kWait);
  const uint32_t inner = made.place(wait, "f");
  const uint32_t body = made.place(outer, "", NodeKind::kBody);
  const uint32_t rest = made.place(0, "rest");
  for (uint64_t i = 0; i < kMany; ++i) {
    made.add(
        {{inner, i % 2 == 0 ? 0 : 20}, {body, i / 2 % 2 == 0 ? 0 : 20}, {rest, i / 4 % 2 * 10}});
  }
  // Var(latency) = 100 + 100 + 25.
  const Profile profile = made.profile();
  const Factor* f = listed_factor(profile, {"f"});
  REQUIRE(f != nullptr);
  CHECK(f->share == Approx(200.0 / 225));
  CHECK(f->contribution == Approx(200.0 / 225));
  CHECK(f->weight == Approx(200.0 / 225));
  REQUIRE(f->instances.size() == 2);
  CHECK(!f->instances[0].nested);
  CHECK(f->instances[1].nested);
  CHECK(f->instances[1].share == Approx(100.0 / 225));
}

TEST_CASE("where the instance inside explains the one around it, it counts itself") {
  SimulatedSums made(kMany);
  const uint32_t outer = made.place(0, "f");
  const uint32_t wait = made.place(outer, "wait(m)", NodeKind::kWait);
  const uint32_t inner = made.place(wait, "f");
  const uint32_t body = made.place(outer, "", NodeKind::kBody);
  for (uint64_t i = 0; i < kMany; ++i) {
    made.add({{inner, i % 2 == 0 ? 0 : 20}, {body, 5}});
  }
  const Profile profile = made.profile();
  REQUIRE(!profile.factors.empty());
  CHECK(profile.factors[0].functions == std::vector<std::string>{"f"});
  CHECK(profile.factors[0].weight == Approx(1));
  CHECK(profile.factors[0].share == Approx(1));
}

TEST_CASE("the tail is exact however close the latencies are") {
  // 1,000,000 ... 1,000,199 ns: all in one bin. The slowest 1 % are those from rank 198 on. x has
  // what the even ones take longer.
  SimulatedSums made(200);
  const uint32_t x = made.place(0, "x");
  const uint32_t y = made.place(0, "y");
  for (uint64_t i = 0; i < 200; ++i) {
    const uint64_t more = i * 57 % 200;
    made.add(
        {{x, 500'000 + (more % 2 == 0 ? more : 0)}, {y, 500'000 + (more % 2 == 0 ? 0 : more)}});
  }
  const Profile profile = made.profile();
  // Of x: (198 / 3 - 49.5) of (198 - 99.5).
  const Factor* of_x = listed_factor(profile, {"x"});
  REQUIRE(of_x != nullptr);
  REQUIRE(of_x->tail_share);
  CHECK(*of_x->tail_share == Approx(16.5 / 98.5));
  CHECK(*profile.tree.tail_share == Approx(1));
}

TEST_CASE("the tail of very many intervals comes from bins, or is not known") {
  const auto tail_of_x = [](uint64_t spread) {
    SimulatedSums made(250'000);
    const uint32_t x = made.place(0, "x");
    const uint32_t y = made.place(0, "y");
    uint64_t state = 1;
    const auto draw = [&](uint64_t most) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      return (state >> 33) % most;
    };
    for (uint64_t i = 0; i < 250'000; ++i) {
      made.add({{x, 500'000 + draw(3 * spread)}, {y, 500'000 + draw(spread)}});
    }
    return made.profile().tree.children[0].tail_share;
  };
  CHECK(!tail_of_x(1000));
  // A uniform time of 3 and one of 1: beyond 4 - e the excess is e / 3 less than the ends, in
  // thirds; e = sqrt(0.06) for 1 %.
  const double e = std::sqrt(0.06);
  const double expected = (1.5 - e / 3) / (2 - 2 * e / 3);
  const auto wide = tail_of_x(1'000'000);
  REQUIRE(wide);
  CHECK(*wide == Approx(expected).margin(0.02));
}

TEST_CASE("a macro is defined in one place and used in others") {
  SimulatedSums made(kMany);
  const auto use = [&](const char* caller, const char* location) {
    const uint32_t around = made.place(0, caller);
    const uint32_t latch = made.place(around, "LATCH");
    Place& place = made.sums.places[latch];
    place.key = "LATCH@";
    place.location = location;
    place.position = std::string(location) + ":3";
    place.definition = "latch.h:12";
    return std::pair(made.place(latch, "lock"), made.place(latch, "", NodeKind::kBody));
  };
  const auto put = use("put", "a.c:9");
  const auto get = use("get", "b.c:70");
  for (uint64_t i = 0; i < kMany; ++i) {
    made.add(
        {{put.first, 10}, {put.second, i % 8 * 100}, {get.first, 10}, {get.second, i % 3 * 50}});
  }
  const Profile profile = made.profile();
  const Factor* body = listed_factor(profile, {"body(LATCH)"});
  REQUIRE(body != nullptr);
  CHECK(body->definition == "latch.h:12");
  REQUIRE(body->instances.size() == 2);
  CHECK(body->instances[0].location == "a.c:9");
  CHECK(body->instances[1].location == "b.c:70");
  CHECK(body->instances[0].share > body->instances[1].share);
}

TEST_CASE("the first place of a factor is a large one, explained below it or not") {
  // f is called below a, where g explains it, and below b.
  const auto first_place = [](uint64_t below_b) {
    SimulatedSums made(4000);
    const uint32_t in_a = made.place(made.place(0, "a"), "f");
    const uint32_t g = made.place(in_a, "g");
    const uint32_t f = made.place(made.place(0, "b"), "f");
    const uint32_t own = made.place(in_a, "f", NodeKind::kBody);
    for (uint64_t i = 0; i < 4000; ++i) {
      made.add({{g, i * 7919 % 1000}, {own, 5}, {f, 10 + i * 104729 % below_b}});
    }
    analyzer::Options all;
    all.least_listed = 0;
    const analyzer::Profile profile = made.profile(all);
    const analyzer::Factor* factor = listed_factor(profile, {"f"});
    REQUIRE(factor != nullptr);
    REQUIRE(factor->instances.size() == 2);
    CHECK(factor->instances[0].dominated == (factor->instances[0].path[1] == "a"));
    return factor->instances[0].path[1];
  };
  CHECK(first_place(50) == "a");   // the other one holds nothing
  CHECK(first_place(500) == "b");  // a fifth, and only this counts
}
