// The rules of timestamp ordering one by one, what MVSchedO adds, and what is kept.
#include "store/timestamp_order.h"

#include <catch2/catch.hpp>

#include "program/session.h"
#include "random_interleaving.h"

using smf::Attempt;
using smf::Outcome;

namespace {

struct Fixture {
  explicit Fixture(std::string_view name = "mvtso")
      : control(smf::make_control(name, {directory.path(), false})) {}

  Attempt& begin(bool read_only = false, smf::Prediction expected = {}) {
    Attempt& attempt = *attempts.emplace_back(std::make_unique<Attempt>());
    attempt.id = attempts.size();
    attempt.read_only = read_only;
    attempt.expected = std::move(expected);
    control->begin(attempt);
    return attempt;
  }
  Outcome read(Attempt& attempt, uint64_t expected_writer) {
    std::optional<smf::Value> value;
    const Outcome outcome = control->read(attempt, "x", false, value);
    if (outcome == Outcome::kDone) {
      REQUIRE(value.value_or(smf::Value{}).version.writer == expected_writer);
    }
    return outcome;
  }
  Outcome write(Attempt& attempt) {
    return control->write(attempt, "x", {{attempt.id, ++writes}, 0});
  }
  Outcome commit(Attempt& attempt) {
    Outcome outcome = control->prepare(attempt);
    if (outcome == Outcome::kDone) {
      outcome = control->persist(attempt);
      control->finish(attempt);
    }
    return outcome;
  }

  smf::Directory directory{""};
  std::unique_ptr<smf::ConcurrencyControl> control;
  std::vector<std::unique_ptr<Attempt>> attempts;
  uint64_t writes = 0;
};

smf::Prediction writes_x() {
  return {{{smf::hot_key_id("x"), smf::Access::kRead, 0},
           {smf::hot_key_id("x"), smf::Access::kWrite, 1}},
          2};
}

}  // namespace

TEST_CASE("a write that comes after a newer read is too late") {
  Fixture f;
  Attempt& older = f.begin();
  Attempt& newer = f.begin();
  REQUIRE(f.read(newer, 0) == Outcome::kDone);
  REQUIRE(f.write(older) == Outcome::kAbort);
}

TEST_CASE("a write between two versions harms nobody") {
  Fixture f;
  Attempt& older = f.begin();
  Attempt& newer = f.begin();
  REQUIRE(f.write(newer) == Outcome::kDone);
  REQUIRE(f.write(older) == Outcome::kDone);
  REQUIRE(f.commit(newer) == Outcome::kDone);
  REQUIRE(f.commit(older) == Outcome::kDone);
  REQUIRE(f.control->committed("x")->version.writer == newer.id);
  REQUIRE(f.control->version_order().at("x") == std::vector<uint64_t>{older.id, newer.id});
}

TEST_CASE("uncommitted writes are seen, and their reader commits after them") {
  Fixture f;
  Attempt& older = f.begin();
  Attempt& newer = f.begin();
  REQUIRE(f.write(older) == Outcome::kDone);
  REQUIRE(f.read(newer, older.id) == Outcome::kDone);
  REQUIRE(f.commit(newer) == Outcome::kWait);
  REQUIRE(f.commit(older) == Outcome::kDone);
  REQUIRE(f.control->take_woken() == std::vector<Attempt*>{&newer});
  REQUIRE(f.commit(newer) == Outcome::kDone);
}

TEST_CASE("aborts cascade to all that have read from them") {
  Fixture f;
  Attempt& first = f.begin();
  Attempt& second = f.begin();
  Attempt& third = f.begin();
  REQUIRE(f.write(first) == Outcome::kDone);
  REQUIRE(f.read(second, first.id) == Outcome::kDone);
  REQUIRE(f.write(second) == Outcome::kDone);
  REQUIRE(f.read(third, second.id) == Outcome::kDone);
  f.control->rollback(first);
  REQUIRE(f.write(second) == Outcome::kAbort);
  REQUIRE(f.commit(third) == Outcome::kWait);
  f.control->rollback(second);
  REQUIRE(f.commit(third) == Outcome::kAbort);
  f.control->rollback(third);
  REQUIRE(f.read(f.begin(), 0) == Outcome::kDone);
}

TEST_CASE("a reader's own version that another one has read cannot be written again") {
  Fixture f;
  Attempt& older = f.begin();
  Attempt& newer = f.begin();
  REQUIRE(f.write(older) == Outcome::kDone);
  REQUIRE(f.write(older) == Outcome::kDone);
  REQUIRE(f.read(newer, older.id) == Outcome::kDone);
  REQUIRE(f.write(older) == Outcome::kAbort);
}

TEST_CASE("a transaction that only reads sees the state before all writers, and disturbs none") {
  Fixture f;
  Attempt& first = f.begin();
  REQUIRE(f.write(first) == Outcome::kDone);
  REQUIRE(f.commit(first) == Outcome::kDone);
  Attempt& second = f.begin();
  REQUIRE(f.write(second) == Outcome::kDone);
  Attempt& reader = f.begin(true);
  Attempt& third = f.begin();
  REQUIRE(f.read(reader, first.id) == Outcome::kDone);
  REQUIRE(f.write(third) == Outcome::kDone);
  REQUIRE(f.commit(second) == Outcome::kDone);
  REQUIRE(f.commit(third) == Outcome::kDone);
  REQUIRE(f.read(reader, first.id) == Outcome::kDone);  // its version is still there
  REQUIRE(f.commit(reader) == Outcome::kDone);
}

TEST_CASE("MVSchedO: a read waits for expected older writes, and for nothing else") {
  Fixture f("mvschedo");
  Attempt& reader_before = f.begin();
  Attempt& writer = f.begin(false, writes_x());
  Attempt& reader_after = f.begin();
  REQUIRE(f.read(reader_before, 0) == Outcome::kDone);
  REQUIRE(f.read(reader_after, 0) == Outcome::kWait);
  REQUIRE(f.read(writer, 0) == Outcome::kDone);
  REQUIRE(f.control->take_woken().empty());
  REQUIRE(f.write(writer) == Outcome::kDone);
  REQUIRE(f.control->take_woken() == std::vector<Attempt*>{&reader_after});
  REQUIRE(f.read(reader_after, writer.id) == Outcome::kDone);
}

TEST_CASE("MVSchedO: a wrong prediction holds others until the transaction ends") {
  Fixture f("mvschedo");
  Attempt& wrong = f.begin(false, writes_x());
  Attempt& reader = f.begin();
  REQUIRE(f.read(reader, 0) == Outcome::kWait);
  SECTION("by its commit") { REQUIRE(f.commit(wrong) == Outcome::kDone); }
  SECTION("by its rollback") { f.control->rollback(wrong); }
  REQUIRE(f.control->take_woken() == std::vector<Attempt*>{&reader});
  REQUIRE(f.read(reader, 0) == Outcome::kDone);
}

TEST_CASE("MVSchedO: one that waits and is doomed rolls back, and is not woken any more") {
  Fixture f("mvschedo");
  Attempt& first = f.begin();
  Attempt& second = f.begin(false, writes_x());
  Attempt& third = f.begin();
  REQUIRE(f.control->write(first, "y", {{first.id, 1}, 0}) == Outcome::kDone);
  std::optional<smf::Value> value;
  REQUIRE(f.control->read(third, "y", false, value) == Outcome::kDone);
  REQUIRE(f.read(third, 0) == Outcome::kWait);
  f.control->rollback(first);
  REQUIRE(f.control->take_woken() == std::vector<Attempt*>{&third});
  REQUIRE(f.read(third, 0) == Outcome::kAbort);
  f.control->rollback(third);
  REQUIRE(f.write(second) == Outcome::kDone);
  REQUIRE(f.control->take_woken().empty());
}

TEST_CASE("rows are forgotten, and old versions removed") {
  const smf::Directory directory("");
  smf_test::Interleaving settings;
  settings.commits = 2000;
  settings.keys = 100;
  int64_t sum = 0;
  {
    smf::TimestampOrder control({directory.path(), false});
    const auto result = interleave(control, settings);
    for (const auto& [key, amount] : result.amounts) {
      sum += amount;
    }
    REQUIRE(control.rows_in_memory() == 0);
  }
  smf::Versions versions({directory.path(), false});  // recovers
  REQUIRE(versions.recovered_clock() >= settings.commits / 2);
  int64_t found = 0;
  for (uint64_t key = 0; key < settings.keys; ++key) {
    const auto newest = versions.newest("row" + std::to_string(key));
    found += newest.value.value_or(smf::Value{}).amount;
  }
  REQUIRE(found == sum);
  REQUIRE(versions.stored_versions() <= settings.keys);
}

TEST_CASE("the keys of versions sort by row, newest first, whatever bytes a row's key has") {
  const std::string zero("a\0", 2);
  REQUIRE(smf::version_key("a", 5) < smf::version_key("a", 4));
  REQUIRE(smf::version_key("a", 1) < smf::version_key(zero, 9));
  REQUIRE(smf::parse_version_key(smf::version_key(zero, 77)) ==
          std::pair(zero, smf::Timestamp{77}));
}
