// Nobody waits for ever, even if the policy would always find somebody better.
#include <catch2/catch.hpp>
#include <deque>

#include "locks/lock_manager.h"

namespace {

using lab::Effects;
using lab::LockManager;
using lab::Mode;
using lab::Transaction;

constexpr lab::ObjectId kHot = 1000;
constexpr int kRivals = 6;

// A victim waits for an object. Its rivals ask for the same object as soon as they have released
// it, and each has a follower, which makes its dependency set the larger one. Returns how often a
// rival was granted the lock before the victim, or -1 if that did not end.
int overtaken(const char* policy, uint64_t patience, uint64_t seed) {
  LockManager manager(lab::make_policy(policy), seed, patience);
  std::deque<Transaction> all;
  lab::Nanoseconds now = 0;
  const auto begin = [&]() -> Transaction& {
    Transaction& transaction = all.emplace_back();
    transaction.id = all.size();
    transaction.begin = ++now;
    return transaction;
  };
  Effects effects;
  const auto rival = [&] {
    const lab::ObjectId own = all.size();
    Transaction& leader = begin();
    REQUIRE(manager.request(leader, own, Mode::kExclusive, now, effects));
    manager.request(leader, kHot, Mode::kExclusive, now, effects);
    REQUIRE_FALSE(manager.request(begin(), own, Mode::kExclusive, now, effects));
    return &leader;
  };
  Transaction* holder = rival();
  for (int i = 1; i < kRivals; ++i) {
    rival();
  }
  Transaction& victim = begin();
  manager.request(victim, kHot, Mode::kExclusive, now, effects);
  for (int rivals = 0; rivals < 1000; ++rivals) {
    rival();
    Effects released;
    manager.release_all(*holder, true, ++now, released);
    for (Transaction* granted : released.granted) {
      if (granted == &victim) {
        return rivals;
      }
      if (manager.find(kHot)->holders.front().transaction == granted) {
        holder = granted;
      } else {
        manager.release_all(*granted, true, now, released);  // a follower
      }
    }
  }
  return -1;
}

}  // namespace

TEST_CASE("a barrier: each rival overtakes once more at most") {
  for (const std::string_view policy : lab::policy_names()) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(policy, seed);
      const int rivals = overtaken(policy.data(), 0, seed);
      CHECK(rivals >= 0);
      CHECK(rivals <= 2 * kRivals);
    }
  }
}

TEST_CASE("patience: p·n newer waits, then its turn comes behind those who are as old") {
  for (const std::string_view policy : lab::policy_names()) {
    for (const uint64_t patience : {1, 2, 8}) {
      CAPTURE(policy, patience);
      const int rivals = overtaken(policy.data(), patience, 1);
      // There are kRivals leaders, as many followers and the victim, and each round two newer
      // waits.
      const int waiting = 2 * kRivals + 3;
      CHECK(rivals >= 0);
      CHECK(rivals <= (static_cast<int>(patience) + 1) * waiting);
    }
  }
}

TEST_CASE("the rivals would overtake for as long as they are allowed to") {
  CHECK(overtaken("ldsf", 8, 1) > overtaken("ldsf", 1, 1));
  CHECK(overtaken("ldsf", 1000, 1) == -1);  // more waits than this test begins
}
