#include "interval_scan.h"

#include <algorithm>
#include <thread>

namespace vprof::analyzer {
namespace {

constexpr uint64_t kMostHeld = 6 << 20;  // records; intervals that would need more are given up

}  // namespace

Result<ScanResult> scan(const std::string& trace_dir, const Sites& sites, const Options& options,
                        const std::function<void(const Scanned&)>& take) {
  auto stream = TraceStream::open(trace_dir, sites, true);
  if (!stream) return tl::make_unexpected(stream.error());
  const unsigned workers =
      options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  IntervalBuilder builder(stream->window(), true);
  Links links;
  ScanResult result;
  int64_t needed_before = INT64_MAX;
  while (stream->next(needed_before, options.window, workers)) {
    std::vector<Interval> ready = builder.take(stream->complete_after());
    std::erase_if(ready, [&](const Interval& interval) {
      if (!options.interval.empty() && sites.interval_name(interval.kind) != options.interval)
        return true;
      if (!stream->skips(interval.begin, options.skip_ns)) return false;
      ++result.skipped;
      return true;
    });
    bool linked = false;
    const auto get_links = [&]() -> const Links& {
      if (!linked) links.build(stream->window());
      linked = true;
      return links;
    };
    if (!ready.empty()) {
      take({ready, builder.labels(), stream->window(), stream->begin(), stream->run(), get_links});
    }
    needed_before = builder.needed_before(stream->complete_after());
    if (stream->size() > std::max(kMostHeld, options.window)) {
      builder.give_up_half();
      needed_before = builder.needed_before(stream->complete_after());
    }
  }
  result.given_up = builder.given_up();
  return result;
}

}  // namespace vprof::analyzer
