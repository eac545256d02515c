// Which of the waiting transactions are granted the lock when it becomes available. One file for
// each policy, written beside its algorithm.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "locks/dependency_sets.h"
#include "locks/lock.h"
#include "locks/remaining_times.h"

namespace lab {

// What a policy looks at: a lock on one object has just been released.
struct Decision {
  // Others still hold the object, all of them shared.
  bool still_held = false;
  // Those ahead of the barrier, if there is one, in order of arrival; not empty. Without upgrades,
  // which go first.
  std::span<const Request> waiting;
  DependencySets& sets;
  const RemainingTimes& remaining;
};

class Policy {
 public:
  virtual ~Policy() = default;

  // Indices into `waiting` of those that are granted the lock: one exclusive request, or shared
  // ones. At least one unless the object is still held.
  virtual std::vector<size_t> choose(const Decision& decision) const = 0;

  // Whether newer requests could overtake an old one for ever, so that a barrier has to stop them.
  virtual bool needs_barrier() const = 0;
};

// fcfs, rs, vats, ldsf, bldsf or hldsf; null for another name.
std::unique_ptr<Policy> make_policy(std::string_view name);
std::span<const std::string_view> policy_names();

std::unique_ptr<Policy> make_fcfs();
std::unique_ptr<Policy> make_rs();
std::unique_ptr<Policy> make_vats();
std::unique_ptr<Policy> make_ldsf();
std::unique_ptr<Policy> make_bldsf();
std::unique_ptr<Policy> make_hldsf();

}  // namespace lab
