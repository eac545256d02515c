#include "search/narration.h"

#include <fmt/ranges.h>

#include "process/commands.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

constexpr size_t kMostNames = 4;

/// At most kMostNames names; the last one then counts the rest.
std::string shortened(std::vector<std::string> names) {
  if (names.size() > kMostNames) {
    names[kMostNames - 1] = fmt::format("{} more", names.size() - kMostNames + 1);
    names.resize(kMostNames);
  }
  return listed(names);
}

/// How many sites this iteration has that the one before had not.
uint64_t new_sites(const State& state, uint64_t sites) {
  const size_t n = state.history.size();
  const uint64_t before = n > 1 ? state.history[n - 2].sites : 0;
  return sites > before ? sites - before : 0;
}

}  // namespace

void say_instrumented(const State& state, const Instrumented& instrumented,
                      const std::vector<std::string>& expanding) {
  const report::Iteration& current = state.history.back();
  const std::vector<std::string>& names = expanding.empty() ? current.expanded : expanding;
  std::vector<std::string> parts;
  if (!names.empty()) {
    parts.push_back("expanding " + shortened(names));
    parts.push_back(counted(new_sites(state, instrumented.sites), "new call site"));
  }
  if (current.demoted > 0) {
    parts.push_back("leaving out " + counted(current.demoted, "call site"));
  }
  parts.push_back("rebuilding " + counted(instrumented.files_changed.size(), "file"));
  say(fmt::format("{}", fmt::join(parts, "; ")));
  say(instrumented.coverage);
}

void say_measured(const analyzer::Profile& profile) {
  say(fmt::format("{} intervals, mean {:.3f} ms, standard deviation {:.3f} ms",
                  profile.interval.count, profile.interval.mean_ns / 1e6,
                  profile.interval.stddev_ns / 1e6));
  for (const analyzer::Factor& factor : profile.factors) {
    if (factor.rank > profile.k) {
      break;
    }
    say(fmt::format("  {}. {}: {:.1f} % of the variance", factor.rank, factor_name(factor),
                    100 * factor.weight));
  }
}

}  // namespace vprof::driver
