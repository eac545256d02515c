// The time that a schedule takes, section 2.1: an operation takes one unit, and of the operations
// on a key, any number of reads or one write run in a unit. Transactions are appended in the order
// of the schedule; operations of later ones wait for those of earlier ones that they conflict with.
//
//   kOperation     until that operation has run: MVTSO, where others see writes at once
//   kTransaction   the whole transaction waits until the other one has ended: OCC, where it would
//                  be aborted otherwise, and locks, which are held to the end
#pragma once

#include <cstdint>
#include <unordered_map>

#include "scheduler/prediction.h"

namespace smf {

enum class Span : uint8_t { kOperation, kTransaction };

// When an appended transaction would end, and for how long conflicts would have delayed it.
struct Placement {
  uint64_t end;
  uint64_t delay;
};

class Makespan {
 public:
  explicit Makespan(Span span) : span_(span) {}

  // Where the transaction would be if it came next.
  Placement place(const Prediction& transaction) const;

  void append(const Prediction& transaction);

  uint64_t units() const { return units_; }

 private:
  // The units at whose end the last read and the last write of a key have run. This is all that
  // later transactions need to know (section 4.1.3).
  struct Last {
    uint64_t read = 0;
    uint64_t write = 0;
  };

  uint64_t free_from(const Operation& operation) const;
  uint64_t start_of(const Prediction& transaction) const;
  void note(const Operation& operation, uint64_t end);

  Span span_;
  uint64_t units_ = 0;
  std::unordered_map<HotKeyId, Last> last_;
};

}  // namespace smf
