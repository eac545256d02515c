#include "scheduler/scheduler.h"

#include <utility>

namespace smf {

Scheduler::Scheduler(std::shared_ptr<const Classifier> classifier, const Rules& rules,
                     uint64_t seed)
    : classifier_(std::move(classifier)), schedule_(rules, seed) {}

void Scheduler::use(std::shared_ptr<const Classifier> classifier) {
  const std::lock_guard lock(mutex_);
  classifier_ = std::move(classifier);
}

Ticket Scheduler::begin(uint32_t type, std::span<const HotKey> hot_keys, const OnBegin& on_begin) {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<const Classifier> classifier = classifier_;
  lock.unlock();
  Waiting waiting;
  waiting.on_begin = &on_begin;
  waiting.prediction = classifier->predict(type, hot_keys);
  lock.lock();
  const Ticket ticket = ++last_ticket_;
  waiting_.emplace(ticket, &waiting);
  std::vector<TicketId> begun;
  schedule_.enqueue(ticket, waiting.prediction, begun);
  wake(begun);
  if (!waiting.begun) {
    wait_for_turn(&waiting, lock);
  }
  return ticket;
}

void Scheduler::wait_for_turn(Waiting* waiting, std::unique_lock<std::mutex>& lock) {
  waiting->changed.wait(lock, [waiting] { return waiting->begun; });
}

void Scheduler::end(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  std::vector<TicketId> begun;
  schedule_.end(ticket, begun);
  wake(begun);
}

void Scheduler::wake(const std::vector<TicketId>& begun) {
  for (const TicketId ticket : begun) {
    const auto found = waiting_.find(ticket);
    Waiting* waiting = found->second;
    waiting_.erase(found);
    if (*waiting->on_begin) {
      (*waiting->on_begin)(waiting->prediction);
    }
    waiting->begun = true;
    waiting->changed.notify_one();
  }
}

}  // namespace smf
