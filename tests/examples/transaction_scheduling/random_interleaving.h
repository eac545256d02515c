// Transactions whose operations interleave at random, in one thread: the same seed gives the same
// history.
#pragma once

#include "history/history.h"
#include "program/execution.h"

namespace smf_test {

struct Interleaving {
  uint64_t seed = 1;
  uint64_t commits = 300;
  uint64_t at_a_time = 8;
  uint64_t keys = 6;
  double forced_aborts = 0;      // before each operation
  double wrong_predictions = 0;  // the share of transactions
};

struct Interleaved {
  smf::History history;
  uint64_t aborts = 0;  // not forced
  uint64_t waits = 0;
  std::map<std::string, int64_t> amounts{};  // what committed transactions have added to each row
};

// Fails the test if all transactions wait for each other.
Interleaved interleave(smf::ConcurrencyControl& control, const Interleaving& settings);

}  // namespace smf_test
