// The same lock manager and the same transactions on a simulated clock: exact, repeatable, and as
// fast as the processor allows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "locks/lock.h"
#include "program/settings.h"
#include "workloads/workload.h"

namespace lab {

constexpr size_t kOverload = 2000;

struct Finished {
  int type = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

struct Outcome {
  std::vector<Finished> finished;  // in order of their end
  uint64_t waits = 0;
  uint64_t deadlocks = 0;
  bool overloaded = false;  // ended because ever more transactions were waiting
};

// Runs until `settings.transactions` have been committed, or until kOverload that came at random
// moments are under way at the same time. As many workers as clients; neither pool of
// pages nor log.
Outcome simulate(const Settings& settings, const Workload& workload);

}  // namespace lab
