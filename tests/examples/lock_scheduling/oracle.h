// The lock manager and its policies once more, slowly and with nothing but sets: what is granted
// follows from the definitions of Huang's dissertation, chapters 3 and 4.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "locks/lock.h"

namespace oracle {

using Name = uint64_t;  // of a transaction, which has the greatest one if it began last

struct Waiting {
  Name name = 0;
  lab::Mode mode = lab::Mode::kShared;
  uint64_t lottery = 0;
  uint64_t number = 0;  // waits that had begun before
  bool upgrade = false;
};

struct Changes {
  std::set<Name> granted;
  std::vector<Name> victims;
  bool operator==(const Changes&) const = default;
};

class Manager {
 public:
  // `lottery` gives the number that the n-th waiter draws.
  Manager(std::string policy, uint64_t patience)
      : policy_(std::move(policy)), patience_(patience) {}

  // True if granted at once; `changes` as of LockManager. If several deadlocks come at once, the
  // first to be resolved may be any of them: `victims` are followed if each is the youngest on a
  // cycle, and all are needed. A wrong one is 0 in `changes`.
  bool request(Name name, lab::ObjectId object, lab::Mode mode, uint64_t lottery,
               const std::vector<Name>& victims, Changes& changes);
  void end(Name name, bool committed, double now, Changes& changes);
  // The time of what is granted from now on; for hLDSF.
  void set_time(double now, std::function<int(Name)> type) {
    now_ = now;
    type_ = std::move(type);
  }

  bool waits(Name name) const;
  // Transactions that wait for this one, directly or not, and itself.
  std::set<Name> dependents(Name name) const;
  bool has_deadlock() const;

 private:
  struct Object {
    lab::ObjectId id = 0;
    std::map<Name, lab::Mode> holders;
    std::vector<Waiting> queue;  // in order of arrival
    std::set<Name> ahead_of_barrier;
  };

  std::set<Name> waits_for(Name name) const;
  bool leads_to(Name from, Name to, Name youngest) const;
  double effective_size(Name name) const;
  double expected(Name name) const;
  std::vector<Waiting> candidates(Object& object) const;
  std::set<Name> choose(Object& object) const;
  std::set<Name> in_order(const Object& object, std::vector<Waiting> order) const;
  void schedule(Object& object, Changes& changes);
  void withdraw(Name name, Changes& changes);
  bool needs_barrier() const { return policy_ != "fcfs" && policy_ != "vats"; }

  std::string policy_;
  uint64_t patience_;
  std::map<lab::ObjectId, Object> objects_;
  std::map<Name, std::vector<lab::ObjectId>> acquired_;  // in this order; it is the one of release
  uint64_t waits_begun_ = 0;
  double now_ = 0;
  std::function<int(Name)> type_;
  std::map<Name, std::vector<double>> granted_at_;
  std::map<int, std::vector<double>> remaining_;
};

}  // namespace oracle
