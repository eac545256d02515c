#include "text/overhead_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/layout.h"
#include "vprof/analyzer/overhead.h"

namespace vprof::report {
namespace {

constexpr size_t kMostNamed = 3;  // call sites in one sentence

/// Cost of all records, as if each lay on the path of an interval; 0: unknown.
double part_of_latency(const analyzer::Profile& profile) {
  const double all = static_cast<double>(profile.interval.count) * profile.interval.mean_ns;
  const double cost = static_cast<double>(profile.overhead.records) * profile.overhead.record_ns;
  return all > 0 ? cost / all : 0;
}

std::string cost_of_records(const analyzer::Profile& profile) {
  const analyzer::Overhead& overhead = profile.overhead;
  std::string text = "Overhead: " + plural(overhead.records, "record", "records");
  if (overhead.record_ns > 0) {
    text += fmt::format(" at about {:.0f} ns each, at most {} of the latency", overhead.record_ns,
                        percent(part_of_latency(profile)));
  }
  if (overhead.stalls != 0) {
    text += ", " + plural(overhead.stalls, "stall", "stalls");
  }
  return text;
}

/// Empty if there was no run to compare with.
std::string change_of_latency(const analyzer::Overhead& overhead) {
  if (overhead.baseline_mean_ns <= 0) {
    return {};
  }
  std::string text =
      fmt::format("; compared with the run without recording: median {:.2f}x, mean {:.2f}x",
                  overhead.median_ratio, overhead.mean_ratio);
  if (overhead.mean_ratio_ci95[1] > 0) {
    text += fmt::format(" ({:.2f}x to {:.2f}x)", overhead.mean_ratio_ci95[0],
                        overhead.mean_ratio_ci95[1]);
  }
  return text + fmt::format(", variance {:.2f}x", overhead.variance_ratio);
}

/// `f at a.c:12 (1,234 calls, 4.1 % of the median latency)`, most expensive first.
std::string listed_by_cost(std::vector<Demoted> sites) {
  std::stable_sort(sites.begin(), sites.end(),
                   [](const Demoted& a, const Demoted& b) { return a.cost > b.cost; });
  std::string text;
  for (size_t i = 0; i < std::min(sites.size(), kMostNamed); ++i) {
    text +=
        fmt::format("{}{} at {} ({}, {} of the median latency)", i == 0 ? "" : ", ",
                    sites[i].function, sites[i].position.substr(0, sites[i].position.rfind(':')),
                    plural(sites[i].calls, "call", "calls"), percent(sites[i].cost));
  }
  if (sites.size() > kMostNamed) {
    text += fmt::format(", {} more", sites.size() - kMostNamed);
  }
  return text;
}

/// What the next plan does about an overhead beyond the budget.
std::string beyond_budget(double budget, const std::vector<Demoted>& next) {
  if (next.empty()) {
    return fmt::format(
        "That exceeds the budget of {}, but no call that varies little costs enough to leave out. "
        "What remains is the cost of recording waits and preemption (`record.leave_out` in "
        "vprof.json), or other load on the machine.",
        percent(budget));
  }
  return fmt::format(
      "That exceeds the budget of {}, so the next plan leaves out {} called often and "
      "varying little: {}",
      percent(budget), plural(next.size(), "call site", "call sites"), listed_by_cost(next));
}

}  // namespace

std::vector<std::string> overhead_lines(const analyzer::Profile& profile,
                                        const ReportContext& context) {
  std::vector<std::string> lines = {cost_of_records(profile) + change_of_latency(profile.overhead)};
  const int now = static_cast<int>(context.iterations.size());
  std::vector<Demoted> left_out;
  std::vector<Demoted> next;
  for (const Demoted& one : context.demoted) {
    (one.since <= now ? left_out : next).push_back(one);
  }
  const double budget = context.overhead_budget;
  if (budget > 0 && analyzer::sure_overhead(profile.overhead) > budget) {
    lines.push_back(beyond_budget(budget, next));
  }
  if (!left_out.empty()) {
    lines.push_back("Left out of the plan (called often, vary little): " +
                    listed_by_cost(left_out));
  }
  return lines;
}

}  // namespace vprof::report
