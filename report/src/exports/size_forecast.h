// How large a file of intervals will be, long before it is written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace vprof::report {

/// Intervals come from the end of the recording to its begin, so the begin of the current one tells
/// what part of the recording is done.
class SizeForecast {
 public:
  /// Adds an interval that takes `bytes` and began `begin_ns` after the recording. Returns the size
  /// of all in bytes: once, when a hundredth of the recording and a hundred intervals are done.
  std::optional<uint64_t> add(uint64_t bytes, int64_t begin_ns) {
    bytes_ += bytes;
    latest_ns_ = std::max(latest_ns_, begin_ns);
    const int64_t done = latest_ns_ - begin_ns;
    if (told_ || ++intervals_ < kLeastIntervals || done <= 0 || done < latest_ns_ / kParts) {
      return std::nullopt;
    }
    told_ = true;
    const double whole = static_cast<double>(latest_ns_) / static_cast<double>(done);
    return static_cast<uint64_t>(static_cast<double>(bytes_) * whole);
  }

 private:
  static constexpr uint64_t kLeastIntervals = 100;
  static constexpr int64_t kParts = 100;

  uint64_t bytes_ = 0, intervals_ = 0;
  int64_t latest_ns_ = 0;
  bool told_ = false;
};

}  // namespace vprof::report
