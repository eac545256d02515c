// Strict two-phase locking: a transaction acquires locks one by one and releases them all at its
// end.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "locks/dependency_sets.h"
#include "locks/lock.h"
#include "locks/remaining_times.h"
#include "policies/policy.h"

namespace lab {

// What a call has changed for other transactions, or for the caller itself after it had to wait.
struct Effects {
  std::vector<Transaction*> granted;  // these wait no longer
  std::vector<Transaction*> victims;  // these wait no longer, and have to roll back
};

// Has no clock and no threads: the caller passes the time, and calls one function at a time.
// Upholds its invariants whatever the policy chooses: two conflicting locks are never granted, and
// a deadlock is resolved in the call that would complete it.
class LockManager {
 public:
  // `seed` decides the numbers that the policy RS draws. `patience` says when a policy that could
  // let a transaction starve gets a barrier, behind which newer requests wait:
  //   0   at each decision, behind all that wait (section 4.5)
  //   p   behind those after which p·n newer waits have begun, if n transactions wait now (2n in
  //       MySQL, which gives these a greater weight instead)
  LockManager(std::unique_ptr<Policy> policy, uint64_t seed, uint64_t patience);

  // Grants the lock at once if nobody waits for the object and all holders are compatible (A_req of
  // section 4.2.3), or if the only holder of a shared lock asks for the exclusive one. Otherwise
  // the transaction waits, and is in `effects` of this or a later call. It must not be waiting
  // already. True if it has the lock at once.
  //
  // Of the transactions in a deadlock, the one that began last has to roll back: the eldest never
  // has to, so every transaction ends.
  bool request(Transaction& transaction, ObjectId object, Mode mode, Nanoseconds now,
               Effects& effects);

  // The transaction has ended; `committed` is false if it rolls back.
  void release_all(Transaction& transaction, bool committed, Nanoseconds now, Effects& effects);

  // How often a transaction had to wait, and how many cycles were resolved.
  uint64_t waits() const { return waits_; }
  uint64_t deadlocks() const { return deadlocks_; }
  const Policy& policy() const { return *policy_; }
  // Null if nobody has ever asked for it.
  const Object* find(ObjectId object) const;

 private:
  Object& object_of(ObjectId id);
  std::span<const Request> candidates(Object& object);
  void grant(Object& object, Transaction& transaction, Mode mode);
  void no_longer_waits(Transaction& transaction, Nanoseconds now, Effects& effects);
  void grant_waiting(Object& object, Nanoseconds now, Effects& effects);
  void stop_waiting(Transaction& transaction, Nanoseconds now, Effects& effects);
  void resolve_deadlocks(Transaction& requester, Nanoseconds now, Effects& effects);

  std::unique_ptr<Policy> policy_;
  std::unordered_map<ObjectId, Object> objects_;
  DependencySets sets_;
  RemainingTimes remaining_;
  uint64_t lottery_;
  uint64_t patience_;
  uint64_t waits_ = 0;    // that have begun
  uint64_t waiting_ = 0;  // that have not ended
  uint64_t deadlocks_ = 0;
};

}  // namespace lab
