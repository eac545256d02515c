#include "search/live/screen/status.h"

#include <algorithm>

#include "search/expansion.h"
#include "vprof/analyzer/marks.h"
#include "vprof/analyzer/overhead.h"

namespace vprof::driver {

namespace {

constexpr int kMostLookedUp = 30;  // factors

bool has(const std::vector<std::string>& ids, const std::string& id) {
  return std::ranges::find(ids, id) != ids.end();
}

report::LiveStanding standing_of(const analyzer::Factor& factor, const State& state,
                                 const FactorNotes& notes) {
  using report::LiveStanding;
  const std::string id = factor_id(factor);
  if (contains(state.set_aside, factor)) {
    return LiveStanding::kSetAside;
  }
  if (contains(state.selected, factor)) {
    return LiveStanding::kAnswer;
  }
  if (has(notes.next, id)) {
    return LiveStanding::kNext;
  }
  if (has(notes.expandable, id)) {
    return LiveStanding::kOpen;
  }
  const bool is_expanded =
      factor.status == analyzer::FactorStatus::kExpanded || has(state.expanded, id);
  return is_expanded ? LiveStanding::kExpanded : LiveStanding::kLeaf;
}

}  // namespace

report::LiveFigures figures_of(const analyzer::Profile& profile, int iteration, double seconds) {
  const analyzer::IntervalSummary& interval = profile.interval;
  report::LiveFigures figures;
  figures.iteration = iteration;
  figures.seconds = seconds;
  figures.count = interval.count;
  figures.incomplete = interval.incomplete;
  figures.mean_ns = interval.mean_ns;
  figures.p99_ns = interval.p99_ns;
  figures.mean_ci95 = interval.mean_ci95;
  figures.p99_ci95 = interval.p99_ci95;
  figures.records = profile.overhead.records;
  figures.dropped = profile.overhead.dropped;
  figures.unknown_waits = profile.losses.unknown_waits;
  figures.cost = analyzer::program_cost(profile.overhead) * profile.overhead.recorded_part;
  figures.mean_ratio = profile.overhead.mean_ratio;
  figures.mean_ratio_ci95 = profile.overhead.mean_ratio_ci95;
  return figures;
}

std::vector<std::string> expandable(const analyzer::Profile& profile,
                                    const instrumenter::Program& program, const State& state) {
  std::vector<std::string> ids;
  for (const analyzer::Factor& factor : profile.factors) {
    if (factor.rank <= kMostLookedUp && !expandable_keys(profile, factor, program, state).empty()) {
      ids.push_back(factor_id(factor));
    }
  }
  return ids;
}

std::vector<report::LiveFactor> factors_of(const analyzer::Profile& profile, const State& state,
                                           const FactorNotes& notes) {
  std::vector<report::LiveFactor> all;
  for (const analyzer::Factor& factor : profile.factors) {
    report::LiveFactor one;
    one.id = factor_id(factor);
    one.name = factor_name(factor);
    one.location = factor.definition;
    one.rank = factor.rank;
    one.share = analyzer::shows_share(factor, profile.ranking) ? factor.share : factor.contribution;
    one.ci95 = analyzer::shown_ci95(factor, profile.ranking);
    one.may_be_zero = analyzer::may_be_zero(factor, profile.ranking);
    one.standing = standing_of(factor, state, notes);
    all.push_back(std::move(one));
  }
  return all;
}

const analyzer::Factor* factor_with(const analyzer::Profile& profile, const std::string& id) {
  const auto found = std::ranges::find_if(
      profile.factors, [&](const analyzer::Factor& factor) { return factor_id(factor) == id; });
  return found == profile.factors.end() ? nullptr : &*found;
}

}  // namespace vprof::driver
