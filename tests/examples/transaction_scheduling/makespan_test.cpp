// The makespan against a slow oracle, which runs the schedule unit by unit, and against the paper's
// figures.
#include "scheduler/makespan.h"

#include <catch2/catch.hpp>
#include <random>

using smf::Access;
using smf::Prediction;

namespace {

Prediction transaction(std::initializer_list<std::pair<smf::HotKeyId, Access>> operations) {
  Prediction prediction;
  for (const auto& [key, access] : operations) {
    prediction.operations.push_back({key, access, prediction.length++});
  }
  return prediction;
}

constexpr Access kRead = Access::kRead;
constexpr Access kWrite = Access::kWrite;

// In each unit, each transaction runs its next operation unless an earlier transaction has one that
// conflicts and has not run before this unit; or, for whole transactions, unless it has yet to
// begin and an earlier one that conflicts has not ended.
uint64_t units_by_oracle(const std::vector<Prediction>& schedule, smf::Span span) {
  std::vector<uint32_t> done(schedule.size());
  for (uint64_t unit = 0;; ++unit) {
    const std::vector<uint32_t> before = done;
    bool all_done = true;
    for (size_t t = 0; t < schedule.size(); ++t) {
      if (before[t] == schedule[t].length) {
        continue;
      }
      all_done = false;
      bool waits = false;
      for (size_t earlier = 0; earlier < t; ++earlier) {
        if (span == smf::Span::kTransaction) {
          waits |= before[t] == 0 && before[earlier] < schedule[earlier].length &&
                   conflict(schedule[earlier], schedule[t]);
          continue;
        }
        for (const smf::Operation& own : schedule[t].operations) {
          for (const smf::Operation& other : schedule[earlier].operations) {
            waits |= own.position == before[t] && own.key == other.key &&
                     (own.access == kWrite || other.access == kWrite) &&
                     other.position >= before[earlier];
          }
        }
      }
      done[t] += waits ? 0 : 1;
    }
    if (all_done) {
      return unit;
    }
  }
}

uint64_t units_of(const std::vector<Prediction>& schedule, smf::Span span) {
  smf::Makespan makespan(span);
  for (const Prediction& transaction : schedule) {
    makespan.append(transaction);
  }
  return makespan.units();
}

std::vector<Prediction> random_schedule(std::mt19937_64& random) {
  std::vector<Prediction> schedule(1 + random() % 8);
  for (Prediction& prediction : schedule) {
    prediction.length = 1 + random() % 6;
    for (uint32_t position = 0; position < prediction.length; ++position) {
      if (random() % 3 > 0) {  // else on a key that is not hot
        prediction.operations.push_back(
            {random() % 3, random() % 2 == 0 ? kRead : kWrite, position});
      }
    }
  }
  return schedule;
}

}  // namespace

TEST_CASE("the makespan equals the oracle's") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const auto schedule = random_schedule(random);
    for (const auto span : {smf::Span::kOperation, smf::Span::kTransaction}) {
      REQUIRE(units_of(schedule, span) == units_by_oracle(schedule, span));
    }
  }
}

TEST_CASE("a placement says what appending does") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 500; ++i) {
    const auto schedule = random_schedule(random);
    const auto next = random_schedule(random).front();
    for (const auto span : {smf::Span::kOperation, smf::Span::kTransaction}) {
      smf::Makespan makespan(span);
      for (const Prediction& transaction : schedule) {
        makespan.append(transaction);
      }
      const smf::Placement placement = makespan.place(next);
      const uint64_t before = makespan.units();
      makespan.append(next);
      REQUIRE(makespan.units() == std::max(before, placement.end));
      REQUIRE(placement.end == next.length + placement.delay);
    }
  }
}

TEST_CASE("figure 1: 8 units in the order of arrival, 6 in the better order") {
  const Prediction odd = transaction({{'x', kRead}, {'z', kWrite}});
  const Prediction even = transaction({{'z', kRead}, {'x', kWrite}});
  REQUIRE(units_of({odd, even, odd, even}, smf::Span::kOperation) == 8);
  REQUIRE(units_of({odd, odd, even, even}, smf::Span::kOperation) == 6);
}

TEST_CASE("figure 2: 7 units at best; the greedy order takes 9, not the 10 that are printed") {
  const Prediction a = transaction({{'x', kRead}, {'x', kWrite}});
  const Prediction b = transaction({{'x', kRead}, {'z', kRead}, {'z', kWrite}});
  REQUIRE(units_of({a, b, a, b}, smf::Span::kOperation) == 7);
  REQUIRE(units_of({a, a, b, b}, smf::Span::kOperation) == 9);
}
