#include "search/narration.h"

#include <fmt/ranges.h>

#include "process/commands.h"
#include "vprof/analyzer/marks.h"
#include "vprof/report/factor_words.h"
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

/// What is expanded. If functions below the named ones come along, their number.
std::string expanded_in_words(const std::vector<std::string>& names, size_t ahead) {
  const std::string below =
      ahead == 0 ? "" : fmt::format(" with {} below", counted(ahead, "function"));
  return "expanding " + shortened(names) + below;
}

}  // namespace

void say_instrumented(const report::Iteration& current, const Instrumented& instrumented,
                      const Expansion& expansion) {
  const std::vector<std::string>& names = expansion.of.empty() ? current.expanded : expansion.of;
  std::vector<std::string> parts;
  if (!names.empty()) {
    parts.push_back(expanded_in_words(names, expansion.of.empty() ? 0 : expansion.ahead));
  }
  if (!names.empty() && expansion.new_calls) {
    parts.push_back(counted(*expansion.new_calls, "new call site"));
  }
  if (current.demoted > 0) {
    parts.push_back("leaving out " + counted(current.demoted, "call site"));
  }
  parts.push_back("rebuilding " + counted(instrumented.files_changed.size(), "file"));
  say(fmt::format("{}", fmt::join(parts, "; ")));
  say(instrumented.coverage);
}

double leading_share(const analyzer::Factor& factor, analyzer::Ranking ranking) {
  return analyzer::shows_share(factor, ranking) ? factor.share : factor.weight;
}

void say_measured(const analyzer::Profile& profile) {
  say(fmt::format("{} intervals, mean {:.3f} ms, standard deviation {:.3f} ms",
                  profile.interval.count, profile.interval.mean_ns / 1e6,
                  profile.interval.stddev_ns / 1e6));
  for (const analyzer::Factor& factor : profile.factors) {
    if (factor.rank > profile.k) {
      break;
    }
    say(fmt::format("  {}. {}: {}{}", factor.rank, factor_name(factor),
                    report::share_in_words(leading_share(factor, profile.ranking), factor.weight),
                    analyzer::may_be_zero(factor, profile.ranking) ? ", which may be chance" : ""));
  }
}

}  // namespace vprof::driver
