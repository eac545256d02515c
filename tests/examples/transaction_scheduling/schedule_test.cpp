// The scheduler's decisions, one by one.
#include "scheduler/schedule.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

using smf::Access;
using smf::Prediction;
using smf::Rules;
using smf::Schedule;
using smf::TicketId;

namespace {

Prediction random_transaction(std::mt19937_64& random, uint64_t keys) {
  Prediction prediction;
  prediction.length = 1 + random() % 6;
  for (uint32_t position = 0; position < prediction.length; ++position) {
    if (random() % 2 == 0) {
      const Access access = random() % 2 == 0 ? Access::kRead : Access::kWrite;
      prediction.operations.push_back({random() % keys, access, position});
    }
  }
  return prediction;
}

// Drives a schedule with random arrivals and ends, and calls `begun` with each transaction that
// begins, before it is put into `in_flight` and while it is still in `queue`.
struct Driver {
  Schedule schedule;
  std::mt19937_64 random;
  uint64_t keys;
  TicketId last = 0;
  std::map<TicketId, Prediction> queue{};  // by arrival
  std::vector<std::pair<TicketId, Prediction>> in_flight{};

  template <typename Begun>
  void step(Begun begun) {
    std::vector<TicketId> ids;
    if (in_flight.empty() || (queue.size() < 40 && random() % 2 == 0)) {
      const Prediction prediction = random_transaction(random, keys);
      queue.emplace(++last, prediction);
      schedule.enqueue(last, prediction, ids);
    } else {
      const size_t which = random() % in_flight.size();
      const TicketId id = in_flight[which].first;
      in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(which));
      schedule.end(id, ids);
    }
    for (const TicketId id : ids) {
      begun(id);
      in_flight.emplace_back(id, queue.at(id));
      queue.erase(id);
    }
    REQUIRE(schedule.queued() == queue.size());
    REQUIRE(schedule.in_flight() == in_flight.size());
  }
};

}  // namespace

TEST_CASE("SMF appends the transaction with which the makespan grows least") {
  Rules rules;
  rules.sample = 1000;  // all
  rules.barrier = 1000000;
  rules.room = 6;
  rules.span = GENERATE(smf::Span::kOperation, smf::Span::kTransaction);
  Driver driver{Schedule(rules, 1), std::mt19937_64(2), 4};
  uint64_t choices = 0;
  for (int i = 0; i < 3000; ++i) {
    driver.step([&](TicketId id) {
      REQUIRE(driver.in_flight.size() < rules.room);
      const bool is_cold = !driver.queue.at(id).has_hot_keys();
      for (const auto& [other, prediction] : driver.queue) {
        smf::Makespan with_it(rules.span);
        smf::Makespan with_other(rules.span);
        for (const auto& running : driver.in_flight) {
          with_it.append(running.second);
          with_other.append(running.second);
        }
        with_it.append(driver.queue.at(id));
        with_other.append(prediction);
        REQUIRE((is_cold || with_it.units() <= with_other.units()));
        choices += with_it.units() < with_other.units() ? 1 : 0;
      }
    });
  }
  REQUIRE(choices > 1000);
}

TEST_CASE("a sample of one is the order of arrival") {
  Rules rules;
  rules.sample = 1;
  rules.room = 5;
  Driver driver{Schedule(rules, 1), std::mt19937_64(3), 4};
  TicketId expected = 0;
  for (int i = 0; i < 1000; ++i) {
    driver.step([&](TicketId id) { REQUIRE(id == ++expected); });
  }
}

TEST_CASE("a transaction without hot keys is the next to begin") {
  Rules rules;
  rules.room = 1;
  Schedule schedule(rules, 1);
  const Prediction hot{{{7, Access::kWrite, 0}}, 1};
  std::vector<TicketId> begun;
  for (TicketId id = 1; id <= 4; ++id) {
    schedule.enqueue(id, hot, begun);
  }
  schedule.enqueue(5, {{}, 3}, begun);
  schedule.end(1, begun);
  REQUIRE(begun == std::vector<TicketId>{1, 5});
}

TEST_CASE("barriers: nobody starves") {
  Rules rules;
  rules.sample = 5;
  rules.barrier = GENERATE(1u, 4u, 16u);
  rules.room = 3;
  rules.hold = GENERATE(false, true);
  Driver driver{Schedule(rules, 1), std::mt19937_64(4), 3};
  std::map<TicketId, uint64_t> overtaken;
  std::map<TicketId, uint64_t> in_conflict;
  uint64_t most = 0;
  for (int i = 0; i < 5000; ++i) {
    driver.step([&](TicketId id) {
      for (const auto& [earlier, prediction] : driver.queue) {
        if (earlier >= id) {
          break;
        }
        // Those without hot keys overtake for ever: they delay nobody on a hot key.
        overtaken[earlier] += driver.queue.at(id).has_hot_keys() ? 1 : 0;
        in_conflict[earlier] += conflict(prediction, driver.queue.at(id)) ? 1 : 0;
      }
      most = std::max(most, overtaken[id]);
      REQUIRE(in_conflict[id] <= rules.barrier);
      REQUIRE((rules.hold || overtaken[id] <= rules.barrier));
    });
  }
  REQUIRE(most >= std::min(rules.barrier, 4u));  // the rule had something to do
}

TEST_CASE("hold: no two transactions in flight conflict") {
  Rules rules;
  rules.room = 8;
  rules.hold = true;
  rules.span = smf::Span::kTransaction;
  Driver driver{Schedule(rules, 1), std::mt19937_64(5), 12};
  size_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    driver.step([&](TicketId id) {
      for (const auto& running : driver.in_flight) {
        REQUIRE_FALSE(conflict(running.second, driver.queue.at(id)));
      }
      most = std::max(most, driver.in_flight.size() + 1);
    });
    // Nobody waits without a reason.
    if (driver.in_flight.empty()) {
      REQUIRE(driver.queue.empty());
    }
  }
  REQUIRE(most > 2);
}

TEST_CASE("with snapshots, transactions that only read conflict with nobody") {
  Rules rules;
  rules.hold = true;
  rules.snapshot_readers = true;
  Schedule schedule(rules, 1);
  std::vector<TicketId> begun;
  schedule.enqueue(1, {{{7, Access::kWrite, 0}}, 1}, begun);
  schedule.enqueue(2, {{{7, Access::kRead, 0}}, 1}, begun);
  schedule.enqueue(3, {{{7, Access::kRead, 0}, {7, Access::kWrite, 1}}, 2}, begun);
  REQUIRE(begun == std::vector<TicketId>{1, 2});
  schedule.end(1, begun);
  REQUIRE(begun == std::vector<TicketId>{1, 2, 3});
}

TEST_CASE("the same seed gives the same schedule") {
  std::vector<TicketId> orders[3];
  for (size_t run = 0; run < 3; ++run) {
    Rules rules;
    rules.room = 3;
    Driver driver{Schedule(rules, run < 2 ? 1 : 2), std::mt19937_64(6), 3};
    for (int i = 0; i < 500; ++i) {
      driver.step([&](TicketId id) { orders[run].push_back(id); });
    }
  }
  REQUIRE(orders[0] == orders[1]);
  REQUIRE(orders[0] != orders[2]);
}
