// Shortest Makespan First, section 3.1 and 4.1.3, without threads and without a clock: the caller
// says when a transaction comes and when it has ended, and is told which ones begin.
//
//   enqueue ──▶ queue, with barriers ──▶ schedule: the transactions in flight ──▶ end
//                    sample of k, the one that makes the makespan grow least
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "scheduler/makespan.h"
#include "scheduler/prediction.h"

namespace smf {

struct Rules {
  // Of how many queued transactions the best is taken; the paper's k. 1 is the order of arrival.
  uint32_t sample = 5;
  // How many transactions with hot keys may be in flight.
  uint32_t room = 32;
  // A barrier stands behind each group of so many: those before it are scheduled before those
  // behind it. So nobody is overtaken by `barrier` or more that came later.
  uint32_t barrier = 64;
  Span span = Span::kOperation;
  // A transaction begins only when all that it conflicts with, and that are before it in the
  // schedule, have ended. For a concurrency control that cannot enforce the schedule itself.
  bool hold = false;
};

using TicketId = uint64_t;

// The same calls with the same seed give the same schedule.
class Schedule {
 public:
  Schedule(const Rules& rules, uint64_t seed) : rules_(rules), random_(seed) {}

  // A transaction wants to begin. Those that begin now are appended to `begun`, in the order of the
  // schedule. One without hot keys begins at once, and takes no room.
  void enqueue(TicketId id, Prediction prediction, std::vector<TicketId>& begun);

  // A transaction that had begun has ended, either way.
  void end(TicketId id, std::vector<TicketId>& begun);

  size_t queued() const { return queue_.size(); }
  size_t in_flight() const { return in_flight_.size(); }

 private:
  struct Transaction {
    TicketId id;
    Prediction prediction;
    uint64_t group;             // how many barriers are before it
    std::vector<TicketId> after;  // with `hold`: those that have to end before it begins
  };

  void fill(std::vector<TicketId>& begun);
  size_t choose();
  void append(Transaction transaction, std::vector<TicketId>& begun);

  Rules rules_;
  std::mt19937_64 random_;
  uint64_t arrivals_ = 0;
  std::vector<Transaction> queue_;     // by arrival
  std::vector<Transaction> in_flight_;  // the schedule; with `hold`, some have yet to begin
};

}  // namespace smf
