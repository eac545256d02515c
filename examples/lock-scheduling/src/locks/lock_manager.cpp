#include "locks/lock_manager.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace lab {

namespace {

// splitmix64: the next of a sequence of random numbers.
uint64_t next_random(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

[[noreturn]] void broken(const char* what) {
  std::fprintf(stderr, "lock manager: %s\n", what);
  std::abort();
}

}  // namespace

LockManager::LockManager(std::unique_ptr<Policy> policy, uint64_t seed, uint64_t patience)
    : policy_(std::move(policy)), lottery_(seed), patience_(patience) {}

const Object* LockManager::find(ObjectId object) const {
  const auto found = objects_.find(object);
  return found == objects_.end() ? nullptr : &found->second;
}

Object& LockManager::object_of(ObjectId id) {
  Object& object = objects_[id];  // its address stays the same
  object.id = id;
  return object;
}

bool LockManager::request(Transaction& transaction, ObjectId id, Mode mode, Nanoseconds now,
                          Effects& effects) {
  Object& object = object_of(id);
  const auto own = std::ranges::find(object.holders, &transaction, &Holder::transaction);
  if (own != object.holders.end()) {
    if (mode == Mode::kShared || own->mode == Mode::kExclusive) {
      return true;
    }
    if (object.holders.size() == 1) {
      own->mode = Mode::kExclusive;
      return true;
    }
    object.upgrades.push_back(&transaction);
  } else {
    const bool alone = object.waiters.empty() && object.upgrades.empty();
    if (alone && std::ranges::all_of(object.holders, [&](const Holder& holder) {
          return compatible(holder.mode, mode);
        })) {
      grant(object, transaction, mode);
      return true;
    }
    object.waiters.push_back({&transaction, mode, next_random(lottery_), waits_});
  }
  transaction.waits_for = &object;
  ++waits_;
  ++waiting_;
  resolve_deadlocks(transaction, now, effects);
  return false;
}

void LockManager::release_all(Transaction& transaction, bool committed, Nanoseconds now,
                              Effects& effects) {
  if (committed) {
    remaining_.finished(transaction, now);
  }
  transaction.sum_of_grants = 0;
  transaction.grants_after_waiting = 0;
  const std::vector<Object*> released = std::exchange(transaction.held, {});
  for (Object* object : released) {
    std::erase_if(object->holders,
                  [&](const Holder& holder) { return holder.transaction == &transaction; });
  }
  for (Object* object : released) {
    grant_waiting(*object, now, effects);
  }
}

void LockManager::grant(Object& object, Transaction& transaction, Mode mode) {
  for (const Holder& holder : object.holders) {
    if (!compatible(holder.mode, mode)) {
      broken("a policy chose a request that conflicts with a granted lock");
    }
  }
  object.holders.push_back({&transaction, mode});
  transaction.held.push_back(&object);
}

void LockManager::no_longer_waits(Transaction& transaction, Nanoseconds now, Effects& effects) {
  transaction.waits_for = nullptr;
  transaction.sum_of_grants += now;
  ++transaction.grants_after_waiting;
  --waiting_;
  effects.granted.push_back(&transaction);
}

// Whom the policy may choose from. Every waiter gets ahead of a barrier some time, since the number
// of its wait stays and the number of waits grows; and a barrier falls when those ahead of it are
// gone.
std::span<const Request> LockManager::candidates(Object& object) {
  const std::span<const Request> all(object.waiters);
  if (!policy_->needs_barrier()) {
    return all;
  }
  if (object.eligible == 0) {
    if (patience_ == 0) {
      object.eligible = all.size();
    }
    while (object.eligible < all.size() &&
           waits_ - all[object.eligible].number > patience_ * waiting_) {
      ++object.eligible;
    }
  }
  return object.eligible == 0 ? all : all.first(object.eligible);
}

// After a release, or when somebody no longer waits.
void LockManager::grant_waiting(Object& object, Nanoseconds now, Effects& effects) {
  if (!object.upgrades.empty()) {
    // Its own shared lock keeps the object from becoming available: it goes first, or never.
    Transaction& first = *object.upgrades.front();
    if (object.holders.size() == 1 && object.holders.front().transaction == &first) {
      object.upgrades.erase(object.upgrades.begin());
      object.holders.front().mode = Mode::kExclusive;
      no_longer_waits(first, now, effects);
    }
    return;
  }
  if (object.waiters.empty() || std::ranges::any_of(object.holders, [](const Holder& holder) {
        return holder.mode == Mode::kExclusive;
      })) {
    return;
  }
  std::vector<size_t> chosen;
  if (std::ranges::all_of(object.waiters,
                          [](const Request& request) { return request.mode == Mode::kShared; })) {
    // A_req would have granted these, had the exclusive request ahead of them not been there.
    chosen.resize(object.waiters.size());
    for (size_t index = 0; index < chosen.size(); ++index) {
      chosen[index] = index;
    }
  } else {
    sets_.graph_has_changed();
    chosen = policy_->choose({!object.holders.empty(), candidates(object), sets_, remaining_});
    if (chosen.empty() && object.holders.empty()) {
      broken("a policy chose nobody for an object that is available");
    }
  }
  for (const size_t index : chosen) {
    const Request& request = object.waiters[index];
    grant(object, *request.transaction, request.mode);
    no_longer_waits(*request.transaction, now, effects);
  }
  object.eligible -= std::min(object.eligible, chosen.size());
  std::erase_if(object.waiters,
                [](const Request& request) { return request.transaction->waits_for == nullptr; });
}

void LockManager::stop_waiting(Transaction& transaction, Nanoseconds now, Effects& effects) {
  Object& object = *std::exchange(transaction.waits_for, nullptr);
  --waiting_;
  std::erase(object.upgrades, &transaction);
  const auto waiter = std::ranges::find(object.waiters, &transaction, &Request::transaction);
  if (waiter != object.waiters.end()) {
    if (static_cast<size_t>(waiter - object.waiters.begin()) < object.eligible) {
      --object.eligible;
    }
    object.waiters.erase(waiter);
  }
  grant_waiting(object, now, effects);
}

// A transaction that waits may complete several cycles at once, all through itself.
void LockManager::resolve_deadlocks(Transaction& requester, Nanoseconds now, Effects& effects) {
  while (requester.waits_for != nullptr) {
    const std::vector<Transaction*> cycle = sets_.cycle_through(requester);
    if (cycle.empty()) {
      return;
    }
    ++deadlocks_;
    Transaction* youngest = *std::ranges::max_element(
        cycle, {}, [](const Transaction* member) { return std::pair(member->begin, member->id); });
    effects.victims.push_back(youngest);
    stop_waiting(*youngest, now, effects);
  }
}

}  // namespace lab
