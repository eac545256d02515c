// The dependency set g(t) of a transaction: all transactions that wait for t, directly or not, and
// t itself (section 4.3.2).
#pragma once

#include <span>
#include <vector>

#include "locks/lock.h"

namespace lab {

// Walks the graph as it is at the moment of the call. Not for several threads at once.
class DependencySets {
 public:
  // |∪ g(t)|, exactly. Visits each transaction once.
  size_t union_size(std::span<Transaction* const> transactions);
  size_t exact_size(Transaction* transaction) { return union_size({&transaction, 1}); }

  // The effective size of section 4.5: 1 + Σ effective sizes of those that wait for an object that
  // the transaction holds. Who waits for two holders is counted twice.
  double effective_size(Transaction* transaction);

  // A path transaction → … → transaction along "waits for an object that is held by", as the
  // transactions on it; empty if there is none. Since a waiter is granted its lock once all holders
  // are gone, such a cycle, and only that, is a deadlock.
  std::vector<Transaction*> cycle_through(Transaction& transaction);

  // A new moment: what effective_size() remembers of the last one is no longer true.
  void graph_has_changed() { known_since_ = ++walk_; }

 private:
  uint64_t walk_ = 0;
  uint64_t known_since_ = 0;
  std::vector<Transaction*> stack_;
};

// Calls f(waiter) for each that waits for an object that the transaction holds.
template <typename F>
void for_each_waiter(const Transaction& transaction, F f) {
  for (const Object* object : transaction.held) {
    for (Transaction* upgrade : object->upgrades) {
      if (upgrade != &transaction) {
        f(upgrade);
      }
    }
    for (const Request& request : object->waiters) {
      f(request.transaction);
    }
  }
}

}  // namespace lab
