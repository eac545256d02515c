#include "search/live/watch/processor_history.h"

#include <algorithm>

namespace vprof::driver {

void ProcessorHistory::note(int64_t now, double processor_ns) {
  points_.push_back({now, points_.empty() ? 0 : points_.back().sum + processor_ns});
}

double ProcessorHistory::between(int64_t from, int64_t to) const { return until(to) - until(from); }

void ProcessorHistory::forget_before(int64_t time) {
  while (points_.size() > 1 && points_[1].time <= time) {
    points_.pop_front();
  }
}

double ProcessorHistory::until(int64_t time) const {
  const auto after = std::ranges::upper_bound(points_, time, {}, &Point::time);
  if (after == points_.begin()) {
    return points_.empty() ? 0 : points_.front().sum;
  }
  const Point& before = *std::prev(after);
  if (after == points_.end()) {
    return before.sum;
  }
  const double part =
      static_cast<double>(time - before.time) / static_cast<double>(after->time - before.time);
  return before.sum + part * (after->sum - before.sum);
}

}  // namespace vprof::driver
