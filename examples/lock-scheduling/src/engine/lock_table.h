// The lock manager for threads: one mutex, and a condition variable for each transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "engine/session.h"
#include "locks/lock_manager.h"

namespace lab {

class LockTable {
 public:
  LockTable(std::unique_ptr<Policy> policy, uint64_t seed, uint64_t patience);

  // Blocks until the lock is granted. False if the transaction is the victim of a deadlock.
  bool acquire(Session* session, ObjectId object, Mode mode);

  void release_all(Session* session, bool committed);

  uint64_t waits() const { return manager_.waits(); }
  uint64_t deadlocks() const { return manager_.deadlocks(); }

 private:
  void wait_in_lock_queue(Session* session, std::unique_lock<std::mutex>& lock);
  void wake(const Effects& effects);

  std::mutex mutex_;
  LockManager manager_;
};

}  // namespace lab
