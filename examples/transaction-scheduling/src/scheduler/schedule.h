// Shortest Makespan First, sections 3.1 and 4.1.3, without threads and without a clock: the caller
// says when a transaction arrives and when it ends, and gets those that may begin.
//
//   enqueue ──▶ queue, with barriers ──▶ schedule: the transactions in flight ──▶ end
//                    of a sample, the one that makes the makespan grow least
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

#include "scheduler/makespan.h"
#include "scheduler/prediction.h"

namespace smf {

struct Rules {
  // Of how many queued transactions the best is taken; the paper's k. 1 is the order of arrival.
  uint32_t sample = 5;
  // How many transactions may be in flight.
  uint32_t room = 64;
  // Against starvation: once this many later transactions have overtaken one, it comes first. Once
  // this many that it conflicts with have, a barrier stands behind it: no other one that it
  // conflicts with begins before it.
  uint32_t barrier = 256;
  Span span = Span::kOperation;
  // For a concurrency control that cannot enforce the schedule itself: a transaction does not begin
  // while one that it conflicts with is in flight.
  bool hold = false;
  // Transactions that only read have a snapshot, and conflict with nobody.
  bool snapshot_readers = false;
};

using TicketId = uint64_t;

// The same calls with the same seed give the same schedule.
class Schedule {
 public:
  Schedule(const Rules& rules, uint64_t seed) : rules_(rules), random_(seed) {}

  // A transaction wants to begin. Those that begin now are appended to `begun`, in the order of the
  // schedule.
  void enqueue(TicketId id, Prediction prediction, std::vector<TicketId>& begun);

  // A transaction that had begun has ended, either way.
  void end(TicketId id, std::vector<TicketId>& begun);

  size_t queued() const { return queue_.size(); }
  size_t in_flight() const { return in_flight_.size(); }

 private:
  struct Transaction {
    TicketId id;
    Prediction prediction;
    uint32_t overtaken = 0;    // by how many that came later
    uint32_t in_conflict = 0;  // by how many of these that it conflicts with
  };

  // How many transactions of a set read and write each hot key.
  class Keys {
   public:
    void add(const Prediction& prediction);
    void remove(const Prediction& prediction);
    bool conflicts_with(const Prediction& prediction) const;

   private:
    struct Count {
      uint32_t reads = 0;
      uint32_t writes = 0;
    };
    std::unordered_map<HotKeyId, Count> counts_;
  };

  void fill(std::vector<TicketId>& begun);
  std::optional<size_t> choose();
  size_t best_of_sample(std::vector<size_t>& candidates);

  Rules rules_;
  std::mt19937_64 random_;
  std::vector<Transaction> queue_;      // by arrival
  std::vector<Transaction> in_flight_;  // the schedule
  Keys keys_in_flight_;
};

}  // namespace smf
