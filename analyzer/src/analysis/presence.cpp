#include "analysis/presence.h"

#include <algorithm>

namespace vprof::analyzer {

void Presence::add(const Interval& interval) {
  begin_ = std::min(begin_, interval.begin);
  end_ = std::max(end_, interval.end);
  for (const IntervalSegment& segment : interval.segments) {
    if (threads_.size() <= segment.thread) {
      threads_.resize(segment.thread + 1);
    }
    Working& thread = threads_[segment.thread];
    thread.first = std::min(thread.first, segment.start);
    thread.last = std::max(thread.last, segment.end);
    thread.ns += segment.end - segment.start;
  }
}

void Presence::add_to(Overhead& overhead) const {
  if (end_ <= begin_) {
    return;
  }
  overhead.run_ns = static_cast<double>(end_ - begin_);
  for (const Working& thread : threads_) {
    if (thread.ns > 0) {
      ++overhead.working_threads;
      overhead.working_ns += static_cast<double>(thread.ns);
      overhead.present_ns += static_cast<double>(thread.last - thread.first);
    }
  }
}

}  // namespace vprof::analyzer
