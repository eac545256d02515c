// A transaction as the engine's threads see it. It is executed by one thread at a time.
#pragma once

#include <condition_variable>

#include "locks/lock.h"
#include "workloads/workload.h"

namespace lab {

struct Session : Transaction {
  Script script;
  const char* name = "";  // of its type

  // Under the lock table's mutex.
  std::condition_variable decided;
  bool victim = false;  // of a deadlock: it has to roll back
};

}  // namespace lab
