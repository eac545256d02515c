// One pass over a recording: where the time of all intervals went, as sums.
#include "analysis/recording_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/collector.h"
#include "analysis/presence.h"
#include "critical_path/interval_scan.h"

namespace vprof::analyzer {
namespace {

/// One pass over a recording: the sums of each kind of interval that is asked for.
class Pass {
 public:
  Pass(TraceStream& stream, const Sites& sites, const Options& options)
      : stream_(stream),
        sites_(sites),
        options_(options),
        pool_(options.threads),
        builder_(stream.window(), options.epoch) {}

  std::vector<IntervalSums> run() {
    scan(stream_, builder_, options_, pool_, [&](std::vector<Interval>& ready) {
      wake_up_edges_.build(stream_.window());
      add(ready);
    });
    builder_.finish();
    return finish();
  }

 private:
  bool wanted(uint32_t kind) const {
    return options_.interval.empty() || sites_.interval_name(kind) == options_.interval;
  }

  void add(std::vector<Interval>& ready) {
    std::vector<std::vector<Interval*>> of_kind(builder_.kinds());
    for (Interval& interval : ready) {
      if (!wanted(interval.kind)) {
        continue;
      }
      if (stream_.skips(interval.begin, options_.skip_ns)) {
        ++skipped_;
      } else {
        of_kind[interval.kind].push_back(&interval);
        if (presence_.size() <= interval.kind) {
          presence_.resize(interval.kind + 1);
        }
        presence_[interval.kind].add(interval);
      }
    }
    if (kinds_.size() < of_kind.size()) {
      kinds_.resize(of_kind.size());
    }
    for (uint32_t kind = 0; kind < of_kind.size(); ++kind) {
      if (of_kind[kind].empty()) {
        continue;
      }
      if (kinds_[kind] == nullptr) {
        kinds_[kind] =
            std::make_unique<KindCollector>(kind, stream_.window(), sites_, wake_up_edges_, pool_,
                                            stream_.run(), stream_.begin(), options_.memory);
      }
      kinds_[kind]->add(of_kind[kind], builder_.labels());
    }
  }

  std::vector<IntervalSums> finish() {
    Losses losses;
    Overhead overhead;
    stream_.add_losses(losses, overhead);
    losses.given_up = builder_.given_up();
    if (skipped_ != 0) {
      losses.notes.push_back(
          fmt::format("{} intervals of the first {:.3g} s were left out (--skip)", skipped_,
                      static_cast<double>(options_.skip_ns) / 1e9));
    }
    note_trace_contexts(losses);
    std::vector<IntervalSums> all;
    const size_t kinds = std::max<size_t>({1, sites_.intervals.size(), builder_.kinds()});
    for (uint32_t kind = 0; kind < kinds; ++kind) {
      IntervalSums sums;
      if (kind < kinds_.size() && kinds_[kind] != nullptr) {
        sums = kinds_[kind]->finish();
      }
      sums.interval = sites_.interval_name(kind);
      sums.incomplete = builder_.incomplete(kind);
      sums.losses += losses;
      sums.overhead = overhead;
      if (kind < presence_.size()) {
        presence_[kind].add_to(sums.overhead);
      }
      all.push_back(std::move(sums));
    }
    return all;
  }

  void note_trace_contexts(Losses& losses) {
    MalformedContexts malformed;
    for (const Thread& thread : stream_.window().threads) {
      malformed.count += thread.malformed_contexts.count;
      if (malformed.example.empty()) {
        malformed.example = thread.malformed_contexts.example;
      }
    }
    if (malformed.count != 0) {
      losses.notes.push_back(
          fmt::format("{} trace {} not as W3C's traceparent is, such as \"{}\": they name no trace",
                      malformed.count, malformed.count == 1 ? "context is" : "contexts are",
                      malformed.example));
    }
    if (const uint64_t unplaced = builder_.unplaced_contexts(); unplaced != 0) {
      losses.notes.push_back(
          fmt::format("{} trace {} no completed interval: they were given before it began, after "
                      "it ended, or under another id",
                      unplaced, unplaced == 1 ? "context belongs to" : "contexts belong to"));
    }
  }

  TraceStream& stream_;
  const Sites& sites_;
  const Options& options_;
  WorkerPool pool_;
  IntervalBuilder builder_;
  WakeUpEdges wake_up_edges_;
  uint64_t skipped_ = 0;
  std::vector<std::unique_ptr<KindCollector>> kinds_;
  std::vector<Presence> presence_;  // by kind
};

}  // namespace

Result<std::vector<IntervalSums>> sums_of_recording(const std::string& trace_dir,
                                                    const std::string& sites_json,
                                                    const Options& options) {
  return sums_of_recording(trace_dir, VPROF_TRY(read_sites(sites_json, options.interval)), options);
}

Result<std::vector<IntervalSums>> sums_of_recording(const std::string& trace_dir,
                                                    const Sites& sites, const Options& options) {
  auto stream = VPROF_TRY(TraceStream::open(trace_dir, sites, options.epoch));
  return Pass(stream, sites, options).run();
}

}  // namespace vprof::analyzer
