#include "critical_path/interval_scan.h"

#include <algorithm>

namespace vprof::analyzer {

void scan(TraceStream& stream, IntervalBuilder& builder, const Options& options, WorkerPool& pool,
          const std::function<void(std::vector<Interval>&)>& take) {
  int64_t needed_before = INT64_MAX;
  while ((stream.needs_more() || builder.needs_more()) &&
         stream.next(needed_before, options.window, pool)) {
    std::vector<Interval>& ready = builder.read_marks(stream.complete_after());
    if (!ready.empty()) {
      take(ready);
    }
    needed_before = builder.needed_before(stream.complete_after());
    if (stream.size() > std::max(kMaxHeldRecords, options.window)) {
      builder.give_up_half();
      needed_before = builder.needed_before(stream.complete_after());
    }
  }
}

Result<ScanResult> scan(const std::string& trace_dir, const Sites& sites, const Options& options,
                        const std::function<void(const Scanned&)>& take) {
  auto stream = VPROF_TRY(TraceStream::open(trace_dir, sites, options.epoch));
  IntervalBuilder builder(stream.window(), options.epoch);
  WakeUpEdges edges;
  WorkerPool pool(options.threads);
  ScanResult result;
  scan(stream, builder, options, pool, [&](std::vector<Interval>& ready) {
    std::erase_if(ready, [&](const Interval& interval) {
      if (!options.interval.empty() && sites.interval_name(interval.kind) != options.interval) {
        return true;
      }
      const bool skipped = stream.skips(interval.begin, options.skip_ns);
      result.skipped += skipped ? 1 : 0;
      return skipped;
    });
    if (ready.empty()) {
      return;
    }
    bool built = false;
    const auto get_edges = [&]() -> const WakeUpEdges& {
      if (!built) {
        edges.build(stream.window());
      }
      built = true;
      return edges;
    };
    take({ready, builder.labels(), stream.window(), stream.begin(), stream.run(), get_edges});
  });
  result.given_up = builder.given_up();
  return result;
}

}  // namespace vprof::analyzer
