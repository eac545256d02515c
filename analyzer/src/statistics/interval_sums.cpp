#include "statistics/interval_sums.h"

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

LoopQueueSums& LoopQueueSums::operator+=(const LoopQueueSums& other) {
  waited += other.waited;
  ns += other.ns;
  latency += other.latency;
  waits += other.waits;
  return *this;
}

}  // namespace vprof::analyzer
