#include "engine/lock_table.h"

#include <chrono>
#include <utility>

namespace lab {

namespace {

Nanoseconds now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

LockTable::LockTable(std::unique_ptr<Policy> policy, uint64_t seed, uint64_t patience)
    : manager_(std::move(policy), seed, patience) {}

bool LockTable::acquire(Session* session, ObjectId object, Mode mode) {
  std::unique_lock lock(mutex_);
  Effects effects;
  if (!manager_.request(*session, object, mode, now(), effects)) {
    wake(effects);
    wait_in_lock_queue(session, lock);
  }
  return !std::exchange(session->victim, false);
}

void LockTable::release_all(Session* session, bool committed) {
  const std::lock_guard lock(mutex_);
  Effects effects;
  manager_.release_all(*session, committed, now(), effects);
  wake(effects);
}

void LockTable::wait_in_lock_queue(Session* session, std::unique_lock<std::mutex>& lock) {
  session->decided.wait(lock, [session] { return session->waits_for == nullptr; });
}

void LockTable::wake(const Effects& effects) {
  for (Transaction* granted : effects.granted) {
    static_cast<Session*>(granted)->decided.notify_one();
  }
  for (Transaction* transaction : effects.victims) {
    auto* victim = static_cast<Session*>(transaction);
    victim->victim = true;
    victim->decided.notify_one();
  }
}

}  // namespace lab
