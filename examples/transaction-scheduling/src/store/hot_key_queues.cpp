#include "store/hot_key_queues.h"

namespace smf {

void HotKeyQueues::expect(Timestamp timestamp, const Prediction& prediction) {
  for (const Operation& operation : prediction.operations) {
    if (operation.access == Access::kWrite) {
      ++queues_[operation.key].writes[timestamp];
    }
  }
}

bool HotKeyQueues::must_wait(Attempt* attempt, Timestamp timestamp, HotKeyId key) {
  const auto found = queues_.find(key);
  if (found == queues_.end() || found->second.writes.empty() ||
      found->second.writes.begin()->first >= timestamp) {
    return false;
  }
  found->second.waiting[timestamp] = attempt;
  waits_at_[timestamp] = key;
  return true;
}

void HotKeyQueues::write_has_run(Timestamp timestamp, HotKeyId key, std::vector<Attempt*>& woken) {
  const auto found = queues_.find(key);
  if (found == queues_.end()) {
    return;
  }
  auto& writes = found->second.writes;
  const auto own = writes.find(timestamp);
  if (own != writes.end() && --own->second == 0) {
    writes.erase(own);
    settle(key, woken);
  }
}

void HotKeyQueues::leave(Timestamp timestamp, const Prediction& prediction,
                         std::vector<Attempt*>& woken) {
  // It waits if a transaction that it had read from was rolled back meanwhile.
  const auto waits = waits_at_.find(timestamp);
  if (waits != waits_at_.end()) {
    const HotKeyId key = waits->second;
    queues_.at(key).waiting.erase(timestamp);
    waits_at_.erase(waits);
    settle(key, woken);
  }
  for (const Operation& operation : prediction.operations) {
    const auto found = queues_.find(operation.key);
    if (found != queues_.end() && found->second.writes.erase(timestamp) > 0) {
      settle(operation.key, woken);
    }
  }
}

void HotKeyQueues::settle(HotKeyId key, std::vector<Attempt*>& woken) {
  Queue& queue = queues_.at(key);
  const bool none = queue.writes.empty();
  while (!queue.waiting.empty() &&
         (none || queue.waiting.begin()->first <= queue.writes.begin()->first)) {
    woken.push_back(queue.waiting.begin()->second);
    waits_at_.erase(queue.waiting.begin()->first);
    queue.waiting.erase(queue.waiting.begin());
  }
  if (none && queue.waiting.empty()) {
    queues_.erase(key);
  }
}

}  // namespace smf
