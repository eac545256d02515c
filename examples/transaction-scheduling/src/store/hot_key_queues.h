// The writes that are expected on each hot key, in the order of the schedule (section 4.2.1).
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "store/concurrency_control.h"
#include "store/versions.h"

namespace smf {

class HotKeyQueues {
 public:
  void expect(Timestamp timestamp, const Prediction& prediction);

  // True if a write of an older transaction is expected that has not run. The attempt then waits,
  // and is appended to `woken` of a later call, to ask again.
  bool must_wait(Attempt* attempt, Timestamp timestamp, HotKeyId key);

  void write_has_run(Timestamp timestamp, HotKeyId key, std::vector<Attempt*>& woken);

  // Committed or rolled back: what has not run will not run any more.
  void leave(Timestamp timestamp, const Prediction& prediction, std::vector<Attempt*>& woken);

  size_t keys() const { return queues_.size(); }

 private:
  struct Queue {
    std::map<Timestamp, uint32_t> writes;  // how many of each transaction have not run
    std::map<Timestamp, Attempt*> waiting;
  };

  void settle(HotKeyId key, std::vector<Attempt*>& woken);

  std::unordered_map<HotKeyId, Queue> queues_;
  std::unordered_map<Timestamp, HotKeyId> waits_at_;
};

}  // namespace smf
