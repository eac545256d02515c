#include "search/narration.h"

#include <fmt/ranges.h>

#include <cmath>

#include "process/commands.h"
#include "vprof/analyzer/marks.h"
#include "vprof/report/factor_words.h"
#include "vprof/report/message.h"
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
  say(report::faint(instrumented.coverage, narration()));
}

void say_stoppable(const WorkloadRun& run) {
  const std::string end = run.stop_after_s > 0
                              ? fmt::format("it ends after {:g} s, or by Ctrl-C", run.stop_after_s)
                              : "Ctrl-C ends it, and the report follows";
  say(fmt::format("running {}\nif this is a server, put load on it now; {}", run.argv.back(), end));
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
    if (std::abs(factor.weight) < analyzer::Options().least_listed) {
      continue;  // counts in the other ranking
    }
    const double share = leading_share(factor, profile.ranking);
    // The one that a reader should see first, if it matters at all.
    const std::string name = factor.rank == 1 && share >= profile.threshold
                                 ? report::marked(factor_name(factor), narration())
                                 : report::heading(factor_name(factor), narration());
    say(fmt::format("  {}. {}: {}{}", factor.rank, name,
                    report::share_in_words(share, factor.weight),
                    analyzer::may_be_zero(factor, profile.ranking) ? ", which may be chance" : ""));
  }
}

std::string nothing_left(int iteration, double threshold) {
  return fmt::format(
      "done after iteration {}: nothing that can be broken down holds {:.0f} % of the variance by "
      "itself",
      iteration, 100 * threshold);
}

}  // namespace vprof::driver
