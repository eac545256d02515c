#include "factors/group_costs.h"

#include <algorithm>
#include <cmath>

namespace vprof::analyzer {
namespace {

constexpr double kMostDeviation = 0.5;

/// Σ (T - mean)²
double deviation_of(const LatencySums& sums, double mean) {
  const auto n = static_cast<double>(sums.n);
  const auto x = static_cast<double>(sums.x);
  return std::max(0.0, static_cast<double>(sums.xx) - 2 * mean * x + n * mean * mean);
}

class Grouping {
 public:
  explicit Grouping(const IntervalSums& sums) {
    for (const auto& [magnitude, of_magnitude] : sums.records.magnitudes) {
      all_ += of_magnitude;
    }
    if (all_.latencies.n != 0) {
      mean_ = static_cast<double>(all_.latencies.mean());
      deviation_ = deviation_of(all_.latencies, mean_);
    }
  }

  void add(const RecordSums& sums, const std::string& label, double from_ns) {
    GroupCost group;
    group.label = label;
    group.from_ns = from_ns;
    group.count = sums.latencies.n;
    group.latency_ns = static_cast<double>(sums.latencies.x);
    group.deviation = deviation_ > 0 ? deviation_of(sums.latencies, mean_) / deviation_ : 0;
    group.records = sums.records;
    out_.groups.push_back(group);
    out_.calls.push_back(sums.calls);
  }

  void add_slow(const std::map<uint32_t, RecordSums>& magnitudes) {
    RecordSums slow;
    for (auto it = magnitudes.rbegin(); it != magnitudes.rend(); ++it) {
      slow += it->second;
      if (deviation_of(slow.latencies, mean_) >= kMostDeviation * deviation_) {
        if (slow.latencies.n < all_.latencies.n) {
          add(slow, "", std::ldexp(1.0, static_cast<int>(it->first) - 1));
        }
        return;
      }
    }
  }

  const RecordSums& all() const { return all_; }
  GroupCosts take() { return std::move(out_); }

 private:
  RecordSums all_;
  double mean_ = 0;
  double deviation_ = 0;
  GroupCosts out_;
};

}  // namespace

GroupCosts group_costs(const IntervalSums& sums) {
  Grouping grouping(sums);
  if (grouping.all().latencies.n == 0) {
    return {};
  }
  const auto& labels = sums.records.labels;
  grouping.add(grouping.all(), "", 0);
  grouping.add_slow(sums.records.magnitudes);
  if (labels.size() < 2) {
    return grouping.take();
  }
  std::vector<const std::pair<const std::string, RecordSums>*> by_records;
  by_records.reserve(labels.size());
  for (const auto& label : labels) {
    by_records.push_back(&label);
  }
  std::stable_sort(by_records.begin(), by_records.end(), [](const auto* a, const auto* b) {
    return a->second.records > b->second.records;
  });
  for (const auto* label : by_records) {
    grouping.add(label->second, label->first, 0);
  }
  return grouping.take();
}

}  // namespace vprof::analyzer
