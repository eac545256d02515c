#include "search/live/watch/slow_bound.h"

#include <charconv>
#include <limits>
#include <utility>

namespace vprof::driver {

namespace {

using analyzer::IntervalSummary;

/// A percentile of fewer is a guess.
constexpr uint64_t kLeastForPercentile = 1000;

constexpr std::pair<const char*, double IntervalSummary::*> kPercentiles[] = {
    {"p95", &IntervalSummary::p95_ns},
    {"p99", &IntervalSummary::p99_ns},
    {"p99.9", &IntervalSummary::p999_ns}};
constexpr std::pair<const char*, double> kUnits[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

}  // namespace

Result<SlowBound> SlowBound::parse(const std::string& text) {
  SlowBound bound;
  for (const auto& [name, percentile] : kPercentiles) {
    if (text == name) {
      bound.percentile_ = percentile;
      return bound;
    }
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  for (const auto& [unit, ns] : kUnits) {
    if (error == std::errc() && std::string(end) == unit && number > 0) {
      bound.ns_ = number * ns;
      return bound;
    }
  }
  return fail(
      "--slower-than: '{}' is no latency; write 50ms, 1.5s, 200us, or one of the percentiles p95, "
      "p99, p99.9",
      text);
}

double SlowBound::ns(const analyzer::Profile& so_far) const {
  if (percentile_ == nullptr) {
    return ns_;
  }
  return so_far.interval.count < kLeastForPercentile ? std::numeric_limits<double>::infinity()
                                                     : so_far.interval.*percentile_;
}

}  // namespace vprof::driver
