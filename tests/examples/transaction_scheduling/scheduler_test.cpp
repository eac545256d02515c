// The scheduler under threads, as a user of RocksDB would call it.
#include "scheduler/scheduler.h"

#include <rocksdb/utilities/transaction_db.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "program/session.h"

namespace {

using smf::Access;

std::shared_ptr<const smf::Classifier> knows_hot_key() {
  std::vector<smf::TracedTransaction> trace;
  for (int i = 0; i < 100; ++i) {
    trace.push_back({0, {{"hot"}}, {{"hot", Access::kRead}, {"hot", Access::kWrite}}});
  }
  return std::make_shared<const smf::Classifier>(smf::Classifier::train(trace));
}

}  // namespace

TEST_CASE("above TransactionDB: transactions on a hot key come one after the other") {
  const smf::Directory directory("");
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::TransactionDB* opened = nullptr;
  REQUIRE(rocksdb::TransactionDB::Open(options, {}, directory.path(), &opened).ok());
  const std::unique_ptr<rocksdb::TransactionDB> db(opened);
  REQUIRE(db->Put({}, "hot", "0").ok());

  smf::Rules rules;
  rules.hold = true;
  rules.span = smf::Span::kTransaction;
  smf::Scheduler scheduler(knows_hot_key(), rules, 1);
  std::atomic<int> inside{0};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) {
        const smf::Ticket ticket = scheduler.begin(0, {{"hot"}});
        failures += ++inside == 1 ? 0 : 1;
        const std::unique_ptr<rocksdb::Transaction> transaction(db->BeginTransaction({}));
        std::string value;
        failures += transaction->GetForUpdate({}, "hot", &value).ok() ? 0 : 1;
        failures += transaction->Put("hot", std::to_string(std::stoi(value) + 1)).ok() ? 0 : 1;
        failures += transaction->Commit().ok() ? 0 : 1;
        --inside;
        scheduler.end(ticket);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  REQUIRE(failures == 0);
  std::string value;
  REQUIRE(db->Get({}, "hot", &value).ok());
  REQUIRE(value == "400");
}

TEST_CASE("transactions begin in the order of the schedule, and know what is expected") {
  smf::Rules rules;
  rules.room = 1;
  smf::Scheduler scheduler(knows_hot_key(), rules, 1);
  std::vector<size_t> expected;
  const auto note = [&](const smf::Prediction& prediction) {
    expected.push_back(prediction.operations.size());
  };
  const std::vector<smf::HotKey> hot{{"hot"}};
  const std::vector<smf::HotKey> cold{{"cold"}};
  scheduler.end(scheduler.begin(0, hot, note));
  scheduler.end(scheduler.begin(0, cold, note));
  REQUIRE(expected == std::vector<size_t>{2, 0});
}

TEST_CASE("a classifier learnt from a newer trace takes over") {
  smf::Scheduler scheduler(std::make_shared<const smf::Classifier>(), {}, 1);
  size_t operations = 77;
  const std::vector<smf::HotKey> hot{{"hot"}};
  const auto note = [&](const smf::Prediction& p) { operations = p.operations.size(); };
  const smf::Ticket before = scheduler.begin(0, hot, note);
  REQUIRE(operations == 0);
  scheduler.use(knows_hot_key());
  const smf::Ticket after = scheduler.begin(0, hot, note);
  REQUIRE(operations == 2);
  scheduler.end(after);
  scheduler.end(before);
}
