#include "critical_path/interval_scan.h"

#include <algorithm>

namespace vprof::analyzer {

void scan(TraceStream& stream, IntervalBuilder& builder, const Options& options, Crew& crew,
          const std::function<void(std::vector<Interval>&)>& take) {
  int64_t needed_before = INT64_MAX;
  while (stream.next(needed_before, options.window, crew)) {
    std::vector<Interval>& ready = builder.take(stream.complete_after());
    if (!ready.empty()) {
      take(ready);
    }
    needed_before = builder.needed_before(stream.complete_after());
    if (stream.size() > std::max(kMostHeld, options.window)) {
      builder.give_up_half();
      needed_before = builder.needed_before(stream.complete_after());
    }
  }
}

Result<ScanResult> scan(const std::string& trace_dir, const Sites& sites, const Options& options,
                        const std::function<void(const Scanned&)>& take) {
  auto stream = VPROF_TRY(TraceStream::open(trace_dir, sites));
  IntervalBuilder builder(stream.window());
  Links links;
  Crew crew(options.threads);
  ScanResult result;
  scan(stream, builder, options, crew, [&](std::vector<Interval>& ready) {
    std::erase_if(ready, [&](const Interval& interval) {
      if (!options.interval.empty() && sites.interval_name(interval.kind) != options.interval) {
        return true;
      }
      if (!stream.skips(interval.begin, options.skip_ns)) {
        return false;
      }
      ++result.skipped;
      return true;
    });
    if (ready.empty()) {
      return;
    }
    bool linked = false;
    const auto get_links = [&]() -> const Links& {
      if (!linked) {
        links.build(stream.window());
      }
      linked = true;
      return links;
    };
    take({ready, builder.labels(), stream.window(), stream.begin(), stream.run(), get_links});
  });
  result.given_up = builder.given_up();
  return result;
}

}  // namespace vprof::analyzer
