// analyze() and merge(): from a recording, or from profiles, to a ranked profile.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/kinds_of_time.h"
#include "analysis/profile_of.h"
#include "analysis/recording_sums.h"
#include "factors/factor_selection.h"
#include "factors/group_costs.h"
#include "factors/latency_summary.h"
#include "factors/reliability.h"
#include "factors/variance_tree.h"
#include "profile/profile_file.h"
#include "statistics/interval_sums_builder.h"
#include "vprof/analyzer/marks.h"

namespace vprof::analyzer {

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

namespace {

Result<IntervalSums> collect(const std::string& trace_dir, const std::string& sites_json,
                             const Options& options) {
  return choose(VPROF_TRY(sums_of_recording(trace_dir, sites_json, options)), trace_dir,
                options.interval);
}

}  // namespace

Profile profile_of(const IntervalSums& sums, const Options& options) {
  const VarianceTree tree = build_variance_tree(sums);
  Profile profile;
  profile.k = options.k;
  profile.threshold = options.threshold;
  profile.ranking = options.ranking;
  profile.interval = summarize(sums);
  profile.interval.slowest_part = slowest_part(sums, profile.interval);
  const BatchSums total = sums.total();
  const TailShares tail(sums, total);
  profile.factors = rank_factors(tree, sums.batches, sums.exemplars, options, &tail);
  profile.kinds = kinds_of_time(tree, Jackknife(tree, sums.batches, nullptr));
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
