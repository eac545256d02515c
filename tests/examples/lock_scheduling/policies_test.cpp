// The examples of the dissertation's figures.
#include "policies/policy.h"

#include <catch2/catch.hpp>
#include <deque>

#include "locks/lock_manager.h"

namespace {

using lab::Effects;
using lab::LockManager;
using lab::Mode;
using lab::ObjectId;
using lab::Transaction;

constexpr ObjectId kContended = 1000;

// A transaction holds kContended; others wait for it, each with a number of followers that wait for
// an object of its own.
class Queue {
 public:
  explicit Queue(const char* policy) : manager_(lab::make_policy(policy), 1, 0) {
    REQUIRE(manager_.request(add(0), kContended, Mode::kExclusive, 0, effects_));
  }

  Transaction& wait(Mode mode, int followers, lab::Nanoseconds begin = 0, int type = 0) {
    Transaction& transaction = add(begin);
    transaction.type = type;
    const ObjectId own = all_.size();
    REQUIRE(manager_.request(transaction, own, Mode::kExclusive, 0, effects_));
    REQUIRE_FALSE(manager_.request(transaction, kContended, mode, 0, effects_));
    for (int i = 0; i < followers; ++i) {
      REQUIRE_FALSE(manager_.request(add(begin), own, Mode::kShared, 0, effects_));
    }
    return transaction;
  }

  // How long transactions of the type take once they have the lock they waited for.
  void teach(int type, lab::Nanoseconds time) {
    Transaction& first = add(0);
    Transaction& second = add(0);
    second.type = type;
    REQUIRE(manager_.request(first, 1, Mode::kExclusive, 0, effects_));
    REQUIRE_FALSE(manager_.request(second, 1, Mode::kExclusive, 0, effects_));
    manager_.release_all(first, true, 0, effects_);
    manager_.release_all(second, true, time, effects_);
  }

  // Whom the release of kContended grants it to.
  std::vector<Transaction*> granted() {
    Effects effects;
    manager_.release_all(all_.front(), true, 1000, effects);
    return effects.granted;
  }

 private:
  Transaction& add(lab::Nanoseconds begin) {
    Transaction& transaction = all_.emplace_back();
    transaction.id = all_.size();
    transaction.begin = begin;
    return transaction;
  }

  LockManager manager_;
  Effects effects_;
  std::deque<Transaction> all_;
};

using Granted = std::vector<Transaction*>;

}  // namespace

TEST_CASE("FCFS goes by the arrival in the queue, VATS by the begin of the transaction") {
  Queue fcfs("fcfs");
  Transaction& first = fcfs.wait(Mode::kExclusive, 0, 20);
  fcfs.wait(Mode::kExclusive, 0, 10);
  CHECK(fcfs.granted() == Granted{&first});
  Queue vats("vats");
  vats.wait(Mode::kExclusive, 0, 20);
  Transaction& eldest = vats.wait(Mode::kExclusive, 0, 10);
  CHECK(vats.granted() == Granted{&eldest});
}

TEST_CASE("LDSF: figure 4.4, five transactions against four") {
  Queue queue("ldsf");
  queue.wait(Mode::kExclusive, 3);
  Transaction& larger = queue.wait(Mode::kExclusive, 4);
  CHECK(queue.granted() == Granted{&larger});
}

TEST_CASE(
    "LDSF adds up all shared requests, and these win if equal: Algorithm 5, line 8 put right") {
  Queue equal("ldsf");
  Transaction& a = equal.wait(Mode::kShared, 0);
  equal.wait(Mode::kExclusive, 1);
  Transaction& b = equal.wait(Mode::kShared, 0);
  CHECK(equal.granted() == Granted{&a, &b});
  Queue less("ldsf");
  less.wait(Mode::kShared, 0);
  Transaction& exclusive = less.wait(Mode::kExclusive, 2);
  less.wait(Mode::kShared, 0);
  CHECK(less.granted() == Granted{&exclusive});
}

TEST_CASE("bLDSF grants a shared lock to those only that block many: figure 4.6") {
  Queue queue("bldsf");
  queue.wait(Mode::kShared, 0);
  Transaction& many = queue.wait(Mode::kShared, 4);  // 5 / f(1) = 5; 6 / f(2) = 3.8
  queue.wait(Mode::kExclusive, 3);
  CHECK(queue.granted() == Granted{&many});
}

TEST_CASE("bLDSF grants all shared locks if none of them stands out") {
  Queue queue("bldsf");
  Granted all;
  for (int i = 0; i < 7; ++i) {
    all.push_back(&queue.wait(Mode::kShared, 0));  // 7 / f(7) = 7 / 3
  }
  queue.wait(Mode::kExclusive, 1);
  CHECK(queue.granted() == all);
}

TEST_CASE("hLDSF keeps a long query waiting: figure 4.20") {
  Queue queue("hldsf");
  queue.teach(1, 100000);
  queue.teach(2, 1000);
  queue.wait(Mode::kExclusive, 3, 0, 1);
  Transaction& quick = queue.wait(Mode::kExclusive, 1, 0, 2);
  CHECK(queue.granted() == Granted{&quick});
}

TEST_CASE("an unknown policy is none") { CHECK(lab::make_policy("lifo") == nullptr); }
