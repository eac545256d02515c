#include "text/overhead_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/layout.h"
#include "vprof/analyzer/overhead.h"

namespace vprof::report {
namespace {

constexpr size_t kMostNamed = 3;  // call sites in one sentence

/// If every record lay on the path of an interval; 0: not known.
double part_of_latency(const analyzer::Profile& profile) {
  const double all = static_cast<double>(profile.interval.count) * profile.interval.mean_ns;
  const double cost = static_cast<double>(profile.overhead.records) * profile.overhead.record_ns;
  return all > 0 ? cost / all : 0;
}

std::string cost(const analyzer::Profile& profile) {
  const analyzer::Overhead& overhead = profile.overhead;
  std::string text = fmt::format("Overhead: {}", plural(overhead.records, "record", "records"));
  if (overhead.record_ns > 0) {
    text += fmt::format(" of about {:.0f} ns, at most {} of the latency", overhead.record_ns,
                        percent(part_of_latency(profile)));
  }
  if (overhead.stalls != 0) {
    text += ", " + plural(overhead.stalls, "stall", "stalls");
  }
  if (overhead.baseline_mean_ns <= 0) {
    return text;
  }
  text += fmt::format(
      "; beside the run without recording, the median latency is {:.2f} times as large, the mean "
      "{:.2f} times",
      overhead.median_ratio, overhead.mean_ratio);
  if (overhead.mean_ratio_ci95[1] > 0) {
    text += fmt::format(" ({:.2f} to {:.2f})", overhead.mean_ratio_ci95[0],
                        overhead.mean_ratio_ci95[1]);
  }
  return text + fmt::format(", the variance {:.2f} times", overhead.variance_ratio);
}

/// `f at a.c:12 (1,234 calls, 4.1 % of the median latency)`, dearest first.
std::string named(std::vector<Demoted> sites) {
  std::stable_sort(sites.begin(), sites.end(),
                   [](const Demoted& a, const Demoted& b) { return a.cost > b.cost; });
  std::string text;
  for (size_t i = 0; i < std::min(sites.size(), kMostNamed); ++i) {
    text += fmt::format("{}{} at {} ({}, {} of the median latency)", i == 0 ? "" : ", ",
                        sites[i].function, sites[i].site.substr(0, sites[i].site.rfind(':')),
                        plural(sites[i].calls, "call", "calls"), percent(sites[i].cost));
  }
  if (sites.size() > kMostNamed) {
    text += fmt::format(", {} more", sites.size() - kMostNamed);
  }
  return text;
}

}  // namespace

std::vector<std::string> overhead_lines(const analyzer::Profile& profile, const Story& story) {
  std::vector<std::string> lines = {cost(profile)};
  const int now = static_cast<int>(story.iterations.size());
  std::vector<Demoted> out;
  std::vector<Demoted> next;
  for (const Demoted& one : story.demoted) {
    (one.since <= now ? out : next).push_back(one);
  }
  const double budget = story.overhead_budget;
  if (budget > 0 && analyzer::sure_overhead(profile.overhead) > budget) {
    const std::string beyond = fmt::format("That is beyond the budget of {}", percent(budget));
    if (next.empty()) {
      lines.push_back(beyond +
                      "; no call site that matters little costs enough to be left out: the rest is "
                      "what recording waits and preemption costs (`record.leave_out` in "
                      "vprof.json), or the machine's other work");
    } else {
      lines.push_back(
          fmt::format("{}; the next plan is thinned by {} called often and of little "
                      "variance: {}",
                      beyond, plural(next.size(), "call site", "call sites"), named(next)));
    }
  }
  if (!out.empty()) {
    lines.push_back(fmt::format("Left out of the plan, as called often and of little variance: {}",
                                named(out)));
  }
  return lines;
}

}  // namespace vprof::report
