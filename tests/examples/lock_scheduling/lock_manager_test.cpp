// The lock manager under random schedules, for each policy: against the slow one, and the
// properties that no policy may break.
#include "locks/lock_manager.h"

#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <set>

#include "oracle.h"

namespace {

using lab::Effects;
using lab::LockManager;
using lab::Mode;
using lab::Transaction;

constexpr int kObjects = 5;
constexpr int kTransactions = 9;

// One schedule: transactions request locks in random order and end at random moments.
class Schedule {
 public:
  Schedule(const std::string& policy, uint64_t patience, uint64_t seed)
      : random_(seed),
        manager_(lab::make_policy(policy), seed, patience),
        slow_(policy, patience),
        lottery_(seed) {}

  void run(int steps) {
    for (int i = 0; i < kTransactions; ++i) {
      begin();
    }
    for (int i = 0; i < steps; ++i) {
      now_ += 1 + pick(50);
      slow_.set_time(static_cast<double>(now_),
                     [this](oracle::Name name) { return type_of(name); });
      Transaction& transaction = *running_[pick(running_.size())];
      if (pick(4) == 0) {
        end(transaction, true);
        begin();
      } else {
        request(transaction);
      }
      check_invariants();
    }
    // Without new requests, everyone ends: nobody waits for ever.
    while (!running_.empty()) {
      end(*running_.front(), true);
    }
    for (const Transaction& transaction : all_) {
      REQUIRE(transaction.waits_for == nullptr);
      REQUIRE(transaction.held.empty());
    }
  }

  uint64_t deadlocks() const { return manager_.deadlocks(); }
  int decisions() const { return decisions_; }

 private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  int type_of(oracle::Name name) const { return all_[name - 1].type; }

  void begin() {
    Transaction& transaction = all_.emplace_back();
    transaction.id = all_.size();
    transaction.begin = now_;
    transaction.type = static_cast<int>(pick(3));
    running_.push_back(&transaction);
  }

  void request(Transaction& transaction) {
    const lab::ObjectId object = pick(kObjects);
    const Mode mode = pick(2) == 0 ? Mode::kShared : Mode::kExclusive;
    Effects effects;
    const bool at_once = manager_.request(transaction, object, mode, now_, effects);
    oracle::Changes changes;
    const uint64_t drawn = next_lottery(at_once);
    std::vector<oracle::Name> victims;
    for (const Transaction* victim : effects.victims) {
      victims.push_back(victim->id);
    }
    REQUIRE(slow_.request(transaction.id, object, mode, drawn, victims, changes) == at_once);
    if (!at_once) {
      std::erase(running_, &transaction);
    }
    apply(effects, changes);
  }

  void end(Transaction& transaction, bool committed) {
    std::erase(running_, &transaction);
    Effects effects;
    manager_.release_all(transaction, committed, now_, effects);
    oracle::Changes changes;
    slow_.end(transaction.id, committed, static_cast<double>(now_), changes);
    apply(effects, changes);
  }

  void apply(const Effects& effects, const oracle::Changes& expected) {
    oracle::Changes changes;
    for (const Transaction* granted : effects.granted) {
      changes.granted.insert(granted->id);
    }
    for (const Transaction* victim : effects.victims) {
      changes.victims.push_back(victim->id);
    }
    REQUIRE(changes.granted == expected.granted);
    REQUIRE(changes.victims == expected.victims);
    REQUIRE(changes.granted.size() == effects.granted.size());
    decisions_ += static_cast<int>(effects.granted.size());
    for (Transaction* granted : effects.granted) {
      running_.push_back(granted);
    }
    for (Transaction* victim : effects.victims) {
      end(*victim, false);
      running_.push_back(victim);  // tries again, with its age
    }
  }

  // What LockManager draws for RS: an order at random that both agree on.
  uint64_t next_lottery(bool at_once) {
    if (at_once) {
      return 0;
    }
    const lab::Object* object = nullptr;
    for (lab::ObjectId id = 0; id < kObjects; ++id) {
      object = manager_.find(id);
      if (object != nullptr && !object->waiters.empty() &&
          object->waiters.back().number + 1 == manager_.waits()) {
        return object->waiters.back().lottery;
      }
    }
    return lottery_++;  // an upgrade, or already granted or a victim
  }

  void check_invariants() {
    std::set<const Transaction*> waiting;
    for (lab::ObjectId id = 0; id < kObjects; ++id) {
      const lab::Object* object = manager_.find(id);
      if (object == nullptr) {
        continue;
      }
      for (const lab::Holder& a : object->holders) {
        for (const lab::Holder& b : object->holders) {
          REQUIRE((&a == &b || lab::compatible(a.mode, b.mode)));
        }
      }
      for (const lab::Request& request : object->waiters) {
        REQUIRE(request.transaction->waits_for == object);
        waiting.insert(request.transaction);
      }
      waiting.insert(object->upgrades.begin(), object->upgrades.end());
      // Nobody waits for what is free.
      REQUIRE((!object->holders.empty() || (object->waiters.empty() && object->upgrades.empty())));
    }
    REQUIRE_FALSE(slow_.has_deadlock());
    REQUIRE(waiting.size() + running_.size() == kTransactions);
  }

  std::mt19937_64 random_;
  LockManager manager_;
  oracle::Manager slow_;
  uint64_t lottery_;
  std::deque<Transaction> all_;
  std::vector<Transaction*> running_;
  lab::Nanoseconds now_ = 0;
  int decisions_ = 0;
};

}  // namespace

TEST_CASE("each policy grants what the slow lock manager grants") {
  for (const std::string_view policy : lab::policy_names()) {
    for (const uint64_t patience : {0, 1, 3}) {
      uint64_t deadlocks = 0;
      int decisions = 0;
      for (uint64_t seed = 1; seed <= 6; ++seed) {
        CAPTURE(policy, patience, seed);
        Schedule schedule(std::string(policy), patience, seed);
        schedule.run(120);
        deadlocks += schedule.deadlocks();
        decisions += schedule.decisions();
      }
      CHECK(deadlocks > 20);
      CHECK(decisions > 150);
    }
  }
}

TEST_CASE(
    "two transactions that hold a lock shared and want it exclusively: the younger gives way") {
  LockManager manager(lab::make_policy("fcfs"), 1, 0);
  Transaction elder;
  Transaction younger;
  elder.id = 1;
  younger.id = 2;
  younger.begin = 5;
  Effects effects;
  REQUIRE(manager.request(elder, 7, Mode::kShared, 10, effects));
  REQUIRE(manager.request(younger, 7, Mode::kShared, 10, effects));
  REQUIRE_FALSE(manager.request(elder, 7, Mode::kExclusive, 11, effects));
  REQUIRE(effects.victims.empty());
  REQUIRE_FALSE(manager.request(younger, 7, Mode::kExclusive, 12, effects));
  REQUIRE(effects.victims == std::vector{&younger});
  REQUIRE(effects.granted.empty());
  manager.release_all(younger, false, 13, effects);
  REQUIRE(effects.granted == std::vector{&elder});
  REQUIRE(manager.find(7)->holders.front().mode == Mode::kExclusive);
}

TEST_CASE("who holds a lock alone gets it exclusively at once, ahead of those who wait") {
  LockManager manager(lab::make_policy("fcfs"), 1, 0);
  Transaction holder;
  Transaction other;
  holder.id = 1;
  other.id = 2;
  Effects effects;
  REQUIRE(manager.request(holder, 7, Mode::kShared, 0, effects));
  REQUIRE_FALSE(manager.request(other, 7, Mode::kExclusive, 1, effects));
  REQUIRE(manager.request(holder, 7, Mode::kExclusive, 2, effects));
  manager.release_all(holder, true, 3, effects);
  REQUIRE(effects.granted == std::vector{&other});
}
