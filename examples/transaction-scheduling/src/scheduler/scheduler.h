// The scheduler for threads. To use it, wrap each transaction of whatever concurrency control:
//
//   const smf::Ticket ticket = scheduler.begin(type, {{"account 7"}, {"account 12"}});
//   ... a rocksdb::Transaction, committed or rolled back ...
//   scheduler.end(ticket);
#pragma once

#include <condition_variable>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "classifier/classifier.h"
#include "scheduler/schedule.h"

namespace smf {

using Ticket = TicketId;

// All functions may be called from any thread.
class Scheduler {
 public:
  // Called when a transaction begins, in the order of the schedule and by any thread, while the
  // scheduler is locked: it must not call the scheduler.
  using OnBegin = std::function<void(const Prediction&)>;

  Scheduler(std::shared_ptr<const Classifier> classifier, const Rules& rules, uint64_t seed);

  // Blocks until it is the transaction's turn. `type` and `hot_keys` are hints (section 4.1.1):
  // wrong ones cost time and nothing else. Call end() with the result, whether the transaction is
  // committed or rolled back; to try again, begin again.
  Ticket begin(uint32_t type, std::span<const HotKey> hot_keys, const OnBegin& on_begin = {});
  Ticket begin(uint32_t type, std::initializer_list<HotKey> hot_keys) {
    return begin(type, std::span<const HotKey>(hot_keys.begin(), hot_keys.size()));
  }

  void end(Ticket ticket);

  // From now on predicts with this one, learnt from a newer trace.
  void use(std::shared_ptr<const Classifier> classifier);

 private:
  struct Waiting {
    const OnBegin* on_begin;
    Prediction prediction;
    bool begun = false;
    std::condition_variable changed;
  };

  void wait_for_turn(Waiting* waiting, std::unique_lock<std::mutex>& lock);
  void wake(const std::vector<TicketId>& begun);

  std::mutex mutex_;
  std::shared_ptr<const Classifier> classifier_;
  Schedule schedule_;
  TicketId last_ticket_ = 0;
  std::unordered_map<TicketId, Waiting*> waiting_;
};

}  // namespace smf
