#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace oracle {

using lab::Mode;

bool Manager::waits(Name name) const { return !waits_for(name).empty(); }

// The holders of the object it waits for.
std::set<Name> Manager::waits_for(Name name) const {
  std::set<Name> found;
  for (const auto& [id, object] : objects_) {
    for (const Waiting& waiting : object.queue) {
      if (waiting.name == name) {
        for (const auto& [holder, mode] : object.holders) {
          if (holder != name) {
            found.insert(holder);
          }
        }
      }
    }
  }
  return found;
}

std::set<Name> Manager::dependents(Name name) const {
  std::set<Name> found{name};
  for (size_t before = 0; before != found.size();) {
    before = found.size();
    for (const auto& [id, object] : objects_) {
      const bool held = std::ranges::any_of(
          object.holders, [&](const auto& holder) { return found.contains(holder.first); });
      for (const Waiting& waiting : object.queue) {
        if (held) {
          found.insert(waiting.name);
        }
      }
    }
  }
  return found;
}

bool Manager::has_deadlock() const {
  for (const auto& [id, object] : objects_) {
    for (const Waiting& waiting : object.queue) {
      for (const Name holder : waits_for(waiting.name)) {
        if (dependents(waiting.name).contains(holder)) {
          return true;
        }
      }
    }
  }
  return false;
}

double Manager::effective_size(Name name) const {
  double size = 1;
  for (const auto& [id, object] : objects_) {
    if (object.holders.contains(name)) {
      for (const Waiting& waiting : object.queue) {
        size += waiting.name == name ? 0 : effective_size(waiting.name);
      }
    }
  }
  return size;
}

double Manager::expected(Name name) const {
  std::vector<double> all;
  for (const auto& [type, times] : remaining_) {
    all.insert(all.end(), times.begin(), times.end());
  }
  const auto own = remaining_.find(type_(name));
  const std::vector<double>& times = own == remaining_.end() ? all : own->second;
  if (times.empty()) {
    return 1;
  }
  return std::max(
      1.0, std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size()));
}

bool Manager::request(Name name, lab::ObjectId id, Mode mode, uint64_t lottery,
                      const std::vector<Name>& victims, Changes& changes) {
  Object& object = objects_[id];
  object.id = id;
  const auto own = object.holders.find(name);
  const bool upgrade = own != object.holders.end();
  if (upgrade && (mode == Mode::kShared || own->second == Mode::kExclusive)) {
    return true;
  }
  const bool others_allow = std::ranges::all_of(object.holders, [&](const auto& holder) {
    return holder.first == name || (mode == Mode::kShared && holder.second == Mode::kShared);
  });
  if (others_allow && (upgrade || object.queue.empty())) {
    object.holders[name] = mode;
    if (!upgrade) {
      acquired_[name].push_back(id);
    }
    return true;
  }
  object.queue.push_back({name, mode, lottery, waits_begun_++, upgrade});
  // All cycles go through this one. While there is one, its youngest transaction gives way.
  for (size_t i = 0; leads_to(name, name, UINT64_MAX); ++i) {
    const Name victim = i < victims.size() ? victims[i] : 0;
    const bool on_cycle = victim == name
                              ? leads_to(name, name, victim)
                              : leads_to(name, victim, victim) && leads_to(victim, name, victim);
    if (!on_cycle) {
      changes.victims.push_back(0);
      break;
    }
    changes.victims.push_back(victim);
    withdraw(victim, changes);
  }
  return false;
}

// Along "waits for", over transactions that are no younger than `youngest`.
bool Manager::leads_to(Name from, Name to, Name youngest) const {
  std::set<Name> reached;
  std::vector<Name> next{from};
  while (!next.empty()) {
    const Name name = next.back();
    next.pop_back();
    for (const Name other : waits_for(name)) {
      if (other <= youngest && reached.insert(other).second) {
        next.push_back(other);
      }
    }
  }
  return reached.contains(to);
}

void Manager::end(Name name, bool committed, double now, Changes& changes) {
  if (committed) {
    for (const double granted : granted_at_[name]) {
      remaining_[type_(name)].push_back(now - granted);
    }
  }
  granted_at_.erase(name);
  const std::vector<lab::ObjectId> held = std::exchange(acquired_[name], {});
  for (const lab::ObjectId id : held) {
    objects_[id].holders.erase(name);
  }
  for (const lab::ObjectId id : held) {
    schedule(objects_[id], changes);
  }
}

void Manager::withdraw(Name name, Changes& changes) {
  for (auto& [id, object] : objects_) {
    if (std::erase_if(object.queue, [&](const Waiting& w) { return w.name == name; }) > 0) {
      object.ahead_of_barrier.erase(name);
      schedule(object, changes);
    }
  }
}

void Manager::schedule(Object& object, Changes& changes) {
  const std::set<Name> chosen = choose(object);
  for (const Name name : chosen) {
    const auto waiting = std::ranges::find(object.queue, name, &Waiting::name);
    object.holders[name] = waiting->mode;
    if (!waiting->upgrade) {
      acquired_[name].push_back(object.id);
    }
    granted_at_[name].push_back(now_);
    object.queue.erase(waiting);
    object.ahead_of_barrier.erase(name);
    changes.granted.insert(name);
  }
}

std::vector<Waiting> Manager::candidates(Object& object) const {
  uint64_t all = 0;
  for (const auto& [id, other] : objects_) {
    all += other.queue.size();
  }
  if (needs_barrier() && object.ahead_of_barrier.empty()) {
    for (const Waiting& waiting : object.queue) {
      if (patience_ == 0 || waits_begun_ - waiting.number > patience_ * all) {
        object.ahead_of_barrier.insert(waiting.name);
      }
    }
  }
  std::vector<Waiting> result;
  for (const Waiting& waiting : object.queue) {
    if (object.ahead_of_barrier.empty() || object.ahead_of_barrier.contains(waiting.name)) {
      result.push_back(waiting);
    }
  }
  return result;
}

std::set<Name> Manager::in_order(const Object& object, std::vector<Waiting> order) const {
  std::set<Name> granted;
  std::vector<Mode> ahead;
  for (const auto& [name, mode] : object.holders) {
    ahead.push_back(mode);
  }
  for (const Waiting& waiting : order) {
    if (std::ranges::all_of(ahead,
                            [&](Mode mode) { return lab::compatible(mode, waiting.mode); })) {
      granted.insert(waiting.name);
    }
    ahead.push_back(waiting.mode);
  }
  return granted;
}

// The first k of `names` by falling value, equal ones in order of arrival.
template <typename Value>
std::vector<Name> by_falling(std::vector<Name> names, Value value) {
  std::vector<Name> sorted;
  while (!names.empty()) {
    size_t best = 0;
    for (size_t i = 1; i < names.size(); ++i) {
      if (value(names[i]) > value(names[best])) {
        best = i;
      }
    }
    sorted.push_back(names[best]);
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return sorted;
}

std::set<Name> Manager::choose(Object& object) const {
  std::vector<Waiting> upgrades;
  std::ranges::copy_if(object.queue, std::back_inserter(upgrades), &Waiting::upgrade);
  if (!upgrades.empty()) {
    const bool alone =
        object.holders.size() == 1 && object.holders.begin()->first == upgrades.front().name;
    return alone ? std::set{upgrades.front().name} : std::set<Name>{};
  }
  if (object.queue.empty() || std::ranges::any_of(object.holders, [](const auto& holder) {
        return holder.second == Mode::kExclusive;
      })) {
    return {};
  }
  if (std::ranges::all_of(object.queue, [](const Waiting& w) { return w.mode == Mode::kShared; })) {
    return in_order(object, object.queue);
  }
  std::vector<Waiting> from = candidates(object);
  if (policy_ == "fcfs") {
    return in_order(object, from);
  }
  if (policy_ == "rs") {
    std::ranges::sort(from, {}, &Waiting::lottery);
    return in_order(object, from);
  }
  if (policy_ == "vats") {
    std::ranges::sort(from, {}, &Waiting::name);  // names are given in the order of begins
    return in_order(object, from);
  }
  if (!object.holders.empty()) {
    return {};
  }
  std::vector<Name> shared;
  std::vector<Name> exclusive;
  for (const Waiting& waiting : from) {
    (waiting.mode == Mode::kShared ? shared : exclusive).push_back(waiting.name);
  }
  const std::set<Name> all_shared(shared.begin(), shared.end());
  if (exclusive.empty()) {
    return all_shared;
  }
  if (policy_ == "ldsf") {
    std::set<Name> together;
    for (const Name name : shared) {
      together.merge(dependents(name));
    }
    const auto size = [&](Name name) { return dependents(name).size(); };
    const Name best = by_falling(exclusive, size).front();
    return size(best) > together.size() ? std::set{best} : all_shared;
  }
  const auto size = [&](Name name) { return effective_size(name); };
  if (policy_ == "bldsf") {
    const Name best = by_falling(exclusive, size).front();
    std::set<Name> batch{best};
    double speed = size(best);
    double sum = 0;
    std::set<Name> first;
    const auto f = [](size_t k) { return std::log2(1.0 + static_cast<double>(k)); };
    double best_speed = 0;
    std::set<Name> best_first;
    double best_sum = 0;
    for (const Name name : by_falling(shared, size)) {
      first.insert(name);
      sum += size(name);
      if (sum / f(first.size()) > best_speed) {
        best_speed = sum / f(first.size());
        best_first = first;
        best_sum = sum;
      }
    }
    return !best_first.empty() && speed * f(best_first.size()) <= best_sum ? best_first : batch;
  }
  const auto speed = [&](Name name) { return size(name) / expected(name); };
  const Name best = by_falling(exclusive, speed).front();
  double sum = 0;
  double slowest = 0;
  for (const Name name : shared) {
    sum += size(name);
    slowest = std::max(slowest, expected(name));
  }
  return !shared.empty() && speed(best) <= sum / slowest ? all_shared : std::set{best};
}

}  // namespace oracle
