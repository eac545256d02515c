#include "statistics/interval_sums.h"

#include <set>
#include <string>

namespace vprof::analyzer {

BatchSums IntervalSums::total() const {
  BatchSums sum;
  for (const Batch& batch : batches) {
    sum += batch.sums;
  }
  return sum;
}

void LoopQueueSums::add(uint64_t wait, uint64_t interval_latency) {
  waited += wait != 0 ? 1 : 0;
  ns += wait;
  latency += interval_latency;
  waits.add(wait);
}

Losses& operator+=(Losses& sum, const Losses& more) {
  sum.dropped += more.dropped;
  sum.torn += more.torn;
  sum.unreadable_bytes += more.unreadable_bytes;
  sum.outside_waits += more.outside_waits;
  sum.unknown_waits += more.unknown_waits;
  sum.inferred_edges += more.inferred_edges;
  sum.exact_edges += more.exact_edges;
  sum.set_up_intervals += more.set_up_intervals;
  sum.set_up_ns += more.set_up_ns;
  sum.given_up += more.given_up;
  sum.violations += more.violations;
  if (!more.notes.empty()) {
    std::set<std::string> notes(sum.notes.begin(), sum.notes.end());
    notes.insert(more.notes.begin(), more.notes.end());
    sum.notes.assign(notes.begin(), notes.end());
  }
  return sum;
}

LoopQueueSums& LoopQueueSums::operator+=(const LoopQueueSums& other) {
  waited += other.waited;
  ns += other.ns;
  latency += other.latency;
  waits += other.waits;
  return *this;
}

}  // namespace vprof::analyzer
