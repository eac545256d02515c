#include "statistics/interval_sums.h"

namespace vprof::analyzer {

BatchSums IntervalSums::total() const {
  BatchSums sum;
  for (const Batch& batch : batches) {
    sum += batch.sums;
  }
  return sum;
}

}  // namespace vprof::analyzer
