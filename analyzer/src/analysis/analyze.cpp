// analyze() and merge(): from a recording, or from profiles, to a ranked profile.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "analysis/collector.h"
#include "analysis/presence.h"
#include "critical_path/interval_scan.h"
#include "factors/factor_selection.h"
#include "factors/group_costs.h"
#include "factors/latency_summary.h"
#include "factors/reliability.h"
#include "factors/variance_tree.h"
#include "profile/profile_file.h"
#include "statistics/interval_sums_builder.h"
#include "trace/sites.h"
#include "vprof/analyzer/marks.h"

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
    if (builder_.given_up() != 0) {
      losses.notes.push_back(fmt::format(
          "{} intervals were given up: more than {} records lie between their begin and end",
          builder_.given_up(), kMaxHeldRecords));
    }
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
      const Losses on_paths = std::exchange(sums.losses, losses);
      sums.losses.exact_edges = on_paths.exact_edges;
      sums.losses.inferred_edges = on_paths.inferred_edges;
      sums.losses.outside_waits = on_paths.outside_waits;
      sums.losses.unknown_waits = on_paths.unknown_waits;
      sums.losses.notes.insert(sums.losses.notes.end(), on_paths.notes.begin(),
                               on_paths.notes.end());
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

/// The kind of interval asked for, or the one that completed most often.
Result<IntervalSums> choose(std::vector<IntervalSums> all, const std::string& trace_dir,
                            const std::string& wanted) {
  auto chosen = std::max_element(
      all.begin(), all.end(),
      [](const IntervalSums& a, const IntervalSums& b) { return a.count() < b.count(); });
  if (!wanted.empty()) {
    std::vector<std::string> names;
    names.reserve(all.size());
    for (const IntervalSums& sums : all) {
      names.push_back(sums.interval);
    }
    chosen = std::find_if(all.begin(), all.end(),
                          [&](const IntervalSums& sums) { return sums.interval == wanted; });
    if (chosen == all.end()) {
      return fail("no interval is named '{}'; there are: {}", wanted, fmt::join(names, ", "));
    }
  }
  if (chosen->count() == 0) {
    return fail(ErrorKind::kNoInterval,
                "{}: no completed interval '{}' ({} incomplete); was it annotated, and did the "
                "workload reach it?",
                trace_dir, chosen->interval, chosen->incomplete);
  }
  return std::move(*chosen);
}

Result<IntervalSums> collect(const std::string& trace_dir, const std::string& sites_json,
                             const Options& options) {
  const auto sites = VPROF_TRY(read_sites(sites_json));
  auto stream = VPROF_TRY(TraceStream::open(trace_dir, sites, options.epoch));
  return choose(Pass(stream, sites, options).run(), trace_dir, options.interval);
}

Profile profile_of(const IntervalSums& sums, const Options& options) {
  const VarianceTree tree = build_variance_tree(sums);
  Profile profile;
  profile.k = options.k;
  profile.threshold = options.threshold;
  profile.ranking = options.ranking;
  profile.interval = summarize(sums);
  const BatchSums total = sums.total();
  const TailShares tail(sums, total);
  profile.factors = rank_factors(tree, sums.batches, sums.exemplars, options, &tail);
  profile.tree = nested_tree(tree);
  mark_factors(profile);
  profile.losses = sums.losses;
  profile.overhead = sums.overhead;
  GroupCosts costs = group_costs(sums);
  profile.overhead.groups = std::move(costs.groups);
  profile.group_calls = std::move(costs.calls);
  for (std::string& note : reliability_notes(sums, profile.interval)) {
    profile.losses.notes.push_back(std::move(note));
  }
  if (!sums.others_known) {
    profile.losses.notes.emplace_back(
        "from a profile of an earlier version: the contribution of a function with several places "
        "leaves out how these vary together");
  }
  profile.bytes = to_bytes(sums);
  return profile;
}

}  // namespace

Result<Profile> analyze(const std::string& trace_dir, const std::string& sites_json,
                        const Options& options) {
  const auto sums = VPROF_TRY(collect(trace_dir, sites_json, options));
  return profile_of(sums, options);
}

Result<Profile> merge(const std::vector<ProfileBytes>& profiles, const Options& options) {
  if (profiles.empty()) {
    return fail("there are no profiles to merge");
  }
  IntervalSumsBuilder builder;
  std::string interval;
  for (const ProfileBytes& profile : profiles) {
    const auto sums = from_bytes(profile.bytes);
    if (!sums) {
      return fail("{}: {}", profile.name, sums.error().message);
    }
    if (profiles.size() == 1) {  // keeps what a sum does not have: the number of threads
      return profile_of(*sums, options);
    }
    if (&profile == &profiles.front()) {
      interval = sums->interval;
    } else if (sums->interval != interval) {
      return fail("{}: it is of the interval '{}', but {} is of '{}'", profile.name, sums->interval,
                  profiles.front().name, interval);
    }
    builder.add(*sums);
  }
  return profile_of(builder.finish(), options);
}

}  // namespace vprof::analyzer
