#include "statistics/record_sums.h"

namespace vprof::analyzer {

RecordSums& RecordSums::operator+=(const RecordSums& other) {
  latencies += other.latencies;
  records += other.records;
  if (calls.size() < other.calls.size()) {
    calls.resize(other.calls.size());
  }
  for (size_t i = 0; i < other.calls.size(); ++i) {
    calls[i] += other.calls[i];
  }
  return *this;
}

RecordSumsByGroup& RecordSumsByGroup::operator+=(const RecordSumsByGroup& other) {
  for (const auto& [label, sums] : other.labels) {
    labels[label] += sums;
  }
  for (const auto& [magnitude, sums] : other.magnitudes) {
    magnitudes[magnitude] += sums;
  }
  return *this;
}

}  // namespace vprof::analyzer
