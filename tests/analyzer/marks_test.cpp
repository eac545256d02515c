// Which factors are marked, and how much they explain together.
#include "vprof/analyzer/marks.h"

#include <catch2/catch.hpp>

#include "simulated_sums.h"

using namespace vprof::analyzer;
using vprof::test::listed_factor;
using vprof::test::SimulatedSums;

namespace {

Node node(const std::string& name, double share, std::vector<Node> children = {}) {
  Node made;
  made.function = name;
  made.share = share;
  made.children = std::move(children);
  return made;
}

Factor factor(const std::string& name, std::vector<std::string> path, double share, double reach) {
  Factor made;
  made.functions = {name};
  made.share = made.weight = share;
  made.share_ci95 = {share - reach, share + reach};
  Instance instance;
  instance.path = std::move(path);
  instance.share = share;
  made.instances = {instance};
  return made;
}

/// request > f > g and request > h
Profile small() {
  Profile profile;
  profile.tree = node("request", 1, {node("f", 0.7, {node("g", 0.6)}), node("h", 0.2)});
  profile.factors = {factor("g", {"request", "f", "g"}, 0.6, 0.1),
                     factor("f", {"request", "f"}, 0.7, 0.1),
                     factor("h", {"request", "h"}, 0.2, 0.1)};
  return profile;
}

}  // namespace

TEST_CASE("marked factors: what is within another one counts once") {
  Profile profile = small();
  mark_factors(profile);
  CHECK(profile.factors[0].marked);
  CHECK(profile.factors[1].marked);
  CHECK(profile.factors[2].marked);
  CHECK(profile.marked_share == Approx(0.9));
  CHECK(!profile.more_to_tell);
}

TEST_CASE("no more than k factors are marked, and it is said whether there are more") {
  Profile profile = small();
  profile.k = 1;
  mark_factors(profile);
  CHECK(profile.factors[0].marked);
  CHECK(!profile.factors[1].marked);
  CHECK(profile.marked_share == Approx(0.6));
  CHECK(profile.more_to_tell);
}

TEST_CASE("a factor that may be 0 is not marked, and leaves its mark to the next") {
  Profile profile = small();
  profile.k = 2;
  profile.factors[0].share_ci95 = {-0.1, 1.3};
  mark_factors(profile);
  CHECK(!profile.factors[0].marked);
  CHECK(profile.factors[1].marked);
  CHECK(profile.factors[2].marked);
  profile.factors[0].share_ci95 = {0.1, 1.1};
  profile.factors[0].significant = false;  // one of many that were tested
  mark_factors(profile);
  CHECK(!profile.factors[0].marked);
  profile.factors[0].share_ci95 = {0, 0};  // not known
  mark_factors(profile);
  CHECK(profile.factors[0].marked);
}

TEST_CASE("the function that is the whole interval is not marked where it is made of others") {
  Profile profile;
  profile.tree = node("handle", 1, {node("handle", 1, {node("f", 0.9), node("g", 0.1)})});
  profile.factors = {factor("handle", {"handle", "handle"}, 1, 0),
                     factor("f", {"handle", "handle", "f"}, 0.9, 0.05)};
  profile.factors[0].status = FactorStatus::kExpanded;
  mark_factors(profile);
  CHECK(!profile.factors[0].marked);
  CHECK(profile.factors[1].marked);
  CHECK(profile.marked_share == Approx(0.9));
  // If it is still to be broken down, or if nothing in it is measured, it is the place to look at.
  profile.factors[0].status = FactorStatus::kExpandable;
  mark_factors(profile);
  CHECK(profile.factors[0].marked);
  profile.factors[0].status = FactorStatus::kExpanded;
  profile.tree.children[0].children.clear();
  mark_factors(profile);
  CHECK(profile.factors[0].marked);
}

TEST_CASE("a profile is made with its marks") {
  SimulatedSums made(480);
  const uint32_t serve = made.place(0, "serve");
  const uint32_t fast = made.place(serve, "fast");
  const uint32_t slow = made.place(serve, "slow");
  const uint32_t body = made.place(serve, "", NodeKind::kBody);
  for (uint64_t i = 0; i < 480; ++i) {
    made.add({{fast, 100}, {slow, i % 7 * 50 + 10}, {body, 10}});
  }
  Profile profile = made.profile();
  profile.factors.front().status = FactorStatus::kExpanded;
  mark_factors(profile);
  const Factor* slow_factor = listed_factor(profile, {"slow"});
  REQUIRE(slow_factor != nullptr);
  CHECK(slow_factor->marked);
  CHECK(profile.marked_share == Approx(1));
}

TEST_CASE("other places: those that count, and not what is explained or counted already") {
  Factor one = factor("f", {"request", "f"}, 0.5, 0.1);
  const auto add = [&](double share, bool dominated, bool nested) {
    Instance instance = one.instances[0];
    instance.share = share;
    instance.dominated = dominated;
    instance.nested = nested;
    one.instances.push_back(instance);
  };
  add(0.2, false, false);
  add(0.2, true, false);
  add(0.2, false, true);
  add(0.0001, false, false);
  CHECK(other_places(one) == 1);
}
