#include "program/shared_control.h"

namespace smf {

std::unique_lock<std::mutex> SharedControl::lock() {
  return control_.has_own_locks() ? std::unique_lock<std::mutex>() : std::unique_lock(mutex_);
}

void SharedControl::begin(Attempt& attempt) {
  const auto held = lock();
  control_.begin(attempt);
}

Outcome SharedControl::step(Execution& execution) {
  auto held = lock();
  return step_locked(execution, held);
}

Outcome SharedControl::step_locked(Execution& execution, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    const Outcome outcome = execution.step(control_);
    wake();
    if (outcome != Outcome::kWait) {
      return outcome;
    }
    wait_for_others(&execution.attempt(), lock);
  }
}

void SharedControl::wait_for_others(Attempt* attempt, std::unique_lock<std::mutex>& lock) {
  attempt->changed.wait(lock, [attempt] { return attempt->woken; });
  attempt->woken = false;
}

Outcome SharedControl::commit(Execution& execution) {
  auto held = lock();
  Outcome outcome = step_locked(execution, held);
  if (outcome != Outcome::kDone) {
    return outcome;
  }
  if (held.owns_lock()) {
    held.unlock();
  }
  outcome = control_.persist(execution.attempt());
  if (outcome != Outcome::kDone) {
    return outcome;
  }
  held = lock();
  control_.finish(execution.attempt());
  wake();
  return Outcome::kDone;
}

void SharedControl::roll_back(Execution& execution) {
  const auto held = lock();
  control_.rollback(execution.attempt());
  wake();
}

void SharedControl::wake() {
  if (control_.has_own_locks()) {
    return;
  }
  for (Attempt* attempt : control_.take_woken()) {
    attempt->woken = true;
    attempt->changed.notify_one();
  }
}

}  // namespace smf
