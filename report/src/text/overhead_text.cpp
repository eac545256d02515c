#include "text/overhead_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "text/layout.h"
#include "vprof/analyzer/overhead.h"
#include "vprof/report/diff.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

constexpr size_t kMostNamed = 3;    // call sites, or groups of intervals, in one sentence
constexpr double kSaturated = 0.9;  // part of the time that a thread is on a processor
/// What processor time may rise beyond the stated cost without a remark: two runs are never alike.
constexpr double kUnexplained = 0.05;

std::string cost_of_records(const analyzer::Overhead& overhead) {
  std::string text = "Overhead: " + plural(overhead.records, "record", "records");
  if (overhead.record_ns > 0) {
    const double each = analyzer::record_cost_ns(overhead);
    text += fmt::format(" at about {:.0f} ns each", each);
    if (const double calls = analyzer::calls_cost_ns(overhead); calls > 0) {
      text += fmt::format(
          ", and {} for timing {} calls and asking the kernel about the {} waits and "
          "preemptions among them,",
          human_time(calls), human_count(overhead.timed_calls), human_count(overhead.waits));
    } else if (overhead.waits != 0) {
      text += fmt::format(" (the {} waits and preemptions among them {:.1f} us)",
                          human_count(overhead.waits),
                          each * static_cast<double>(analyzer::kRecordsPerWait) / 1e3);
    }
  }
  const double added = analyzer::program_cost(overhead);
  if (added > 0) {
    const double all = overhead.helper_ns + analyzer::recording_ns(overhead);
    const double helper = overhead.helper_ns / all;
    const auto range = analyzer::program_cost_ci95(overhead);
    const std::string measured = range[1] > 0
                                     ? fmt::format(" ({} to {}, measured against the pauses)",
                                                   percent(range[0]), percent(range[1]))
                                     : "";
    text += fmt::format(" add {}{} to the processor time of the program, {} of that on the helper",
                        percent(added), measured, percent(helper));
    if (const double calls = analyzer::calls_cost_ns(overhead); calls > 0) {
      text += fmt::format(" and {} on those calls", percent(calls / all));
    }
    if (overhead.recorded_part < 1) {
      text += fmt::format("; recording was on for {} of the time, so {} of all of it",
                          percent(overhead.recorded_part), percent(added * overhead.recorded_part));
    }
  }
  if (overhead.stalls != 0) {
    text += ", " + plural(overhead.stalls, "stall", "stalls");
  }
  return text;
}

/// The thread that made most records, as far as it tells more than the program as a whole.
std::string cost_of_thread(const analyzer::Overhead& overhead) {
  const double cost = analyzer::thread_cost(overhead);
  const double load = analyzer::thread_load(overhead);
  if (cost <= 0 || load <= 0 ||
      analyzer::queueing_cost(overhead) <= analyzer::program_cost(overhead)) {
    return {};
  }
  std::string text = fmt::format(
      "The thread that records most ({}) was on a processor for {} of the time, {} longer than "
      "without the records",
      overhead.thread.empty() ? "unnamed" : overhead.thread, percent(load), percent(cost));
  if (load >= kSaturated) {
    text += ": requests that wait for it wait that much longer, too";
  }
  return text;
}

/// Empty if there was no run to compare with.
std::string change_by_measuring(const analyzer::Overhead& overhead) {
  if (overhead.baseline_mean_ns <= 0) {
    return {};
  }
  std::string text =
      fmt::format("Compared with the run without recording: median {}, mean {}",
                  ratio_text(overhead.median_ratio), ratio_text(overhead.mean_ratio));
  if (overhead.mean_ratio_ci95[1] > 0) {
    text += fmt::format(" ({} to {})", ratio_text(overhead.mean_ratio_ci95[0]),
                        ratio_text(overhead.mean_ratio_ci95[1]));
  }
  text += ", variance " + ratio_text(overhead.variance_ratio);
  if (overhead.processor_ratio > 0) {
    text += ", processor time per interval " + ratio_text(overhead.processor_ratio);
    const double stated = analyzer::program_cost(overhead) * overhead.recorded_part;
    if (overhead.processor_ratio - 1 - stated > kUnexplained) {
      text += fmt::format(
          "; that is more than the {} that recording explains, so the machine was slower in this "
          "run, or recording costs more than stated",
          percent(stated));
    }
  }
  return text;
}

std::string in_words(const analyzer::GroupCost& group) {
  if (!group.label.empty()) {
    return group.label;
  }
  return group.from_ns > 0 ? fmt::format("those of more than {}", human_time(group.from_ns))
                           : "all intervals";
}

/// Of which intervals the latency is more than `budget` longer because of the records that their
/// own threads made meanwhile. Empty: of none.
std::string longer_intervals(const analyzer::Overhead& overhead, double budget) {
  std::string text;
  size_t more = 0;
  for (const analyzer::GroupCost& group : overhead.groups) {
    const double cost = analyzer::group_cost(group, overhead);
    if (cost <= budget) {
      continue;
    }
    if (more++ < kMostNamed) {
      text += fmt::format("{}{} (by {}, {:.0f} records each)", text.empty() ? "" : ", ",
                          in_words(group), percent(cost),
                          static_cast<double>(group.records) / static_cast<double>(group.count));
    }
  }
  if (more > kMostNamed) {
    text += fmt::format(", {} more", more - kMostNamed);
  }
  return text.empty() ? text : "Their own records make intervals longer: " + text;
}

/// `f at a.c:12 (1,234 calls, 4.1 %)`, most expensive first.
std::string listed_by_cost(std::vector<Demoted> sites) {
  std::stable_sort(sites.begin(), sites.end(),
                   [](const Demoted& a, const Demoted& b) { return a.cost > b.cost; });
  std::string text;
  for (size_t i = 0; i < std::min(sites.size(), kMostNamed); ++i) {
    const Demoted& one = sites[i];
    const std::string calls = plural(one.calls, "call", "calls");
    const std::string what =
        one.heavy_in.empty()
            ? fmt::format("{}, {}", calls, percent(one.cost))
            : fmt::format("in {}: {} each, which add {}", one.heavy_in, calls, percent(one.cost));
    text += fmt::format("{}{} at {} ({})", i == 0 ? "" : ", ", one.function,
                        one.position.substr(0, one.position.rfind(':')), what);
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
        "That exceeds the budget of {}, but the calls that vary little cost next to nothing. Those "
        "that remain are what the search is about.",
        percent(budget));
  }
  return fmt::format(
      "That exceeds the budget of {}, so the next plan leaves out {} called often and "
      "varying little: {}",
      percent(budget), plural(next.size(), "call site", "call sites"), listed_by_cost(next));
}

/// What timed calls and system calls cost beyond the budget, which no plan changes. Empty: nothing.
std::string beyond_by_calls(const analyzer::Overhead& overhead, double budget) {
  const double calls = analyzer::added_by(analyzer::calls_cost_ns(overhead), overhead.processor_ns);
  if (calls * overhead.recorded_part <= budget) {
    return {};
  }
  return fmt::format(
      "Timing calls and asking the kernel add {} by themselves, beyond the budget of {}, and no "
      "plan changes that. "
      "\"record\": {{\"leave_out\": [...]}} leaves out kinds of waits.",
      percent(calls), percent(budget));
}

/// Splits off those whose calls are too many within one interval.
std::vector<Demoted> take_heavy(std::vector<Demoted>& sites) {
  const auto heavy = std::stable_partition(sites.begin(), sites.end(),
                                           [](const Demoted& one) { return one.heavy_in.empty(); });
  std::vector<Demoted> taken(heavy, sites.end());
  sites.erase(heavy, sites.end());
  return taken;
}

/// Splits off those that cost by their presence, and says so.
std::string take_burdens(std::vector<Demoted>& sites) {
  const auto burdens = std::stable_partition(sites.begin(), sites.end(),
                                             [](const Demoted& one) { return one.within.empty(); });
  std::map<std::string, double> functions;
  double cost = 0;
  for (auto one = burdens; one != sites.end(); ++one) {
    functions[one->within] += one->cost;
    cost += one->cost;
  }
  const auto count = static_cast<uint64_t>(sites.end() - burdens);
  sites.erase(burdens, sites.end());
  if (count == 0) {
    return {};
  }
  const auto most =
      std::max_element(functions.begin(), functions.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{} in {} called often, such as {} (their presence adds {})",
                     plural(count, "call site", "call sites"),
                     plural(functions.size(), "function", "functions"), most->first, percent(cost));
}

void add_line(std::vector<std::string>& lines, std::string line) {
  if (!line.empty()) {
    lines.push_back(std::move(line));
  }
}

}  // namespace

std::vector<std::string> overhead_lines(const analyzer::Profile& profile,
                                        const ReportContext& context) {
  const analyzer::Overhead& overhead = profile.overhead;
  std::vector<std::string> lines = {cost_of_records(overhead)};
  add_line(lines, cost_of_thread(overhead));
  add_line(lines, change_by_measuring(overhead));
  const int now = static_cast<int>(context.iterations.size());
  std::vector<Demoted> left_out;
  std::vector<Demoted> next;
  for (const Demoted& one : context.demoted) {
    (one.since <= now ? left_out : next).push_back(one);
  }
  const std::string lighter_next = take_burdens(next);
  const std::string lighter = take_burdens(left_out);
  const std::vector<Demoted> heavy_next = take_heavy(next);
  const std::vector<Demoted> heavy = take_heavy(left_out);
  const double budget = context.overhead_budget;
  if (budget > 0) {
    if (analyzer::measuring_cost(overhead) * overhead.recorded_part > budget) {
      lines.push_back(beyond_budget(budget, next));
    }
    add_line(lines, beyond_by_calls(overhead, budget));
    add_line(lines, longer_intervals(overhead, budget));
  }
  if (!heavy_next.empty()) {
    lines.push_back("The next plan leaves out (too many calls within one interval): " +
                    listed_by_cost(heavy_next));
  }
  if (!lighter_next.empty()) {
    lines.push_back("The next plan also leaves out " + lighter_next);
  }
  if (!left_out.empty()) {
    lines.push_back("Left out of the plan (called often, vary little): " +
                    listed_by_cost(left_out));
  }
  if (!heavy.empty()) {
    lines.push_back("Left out of the plan (too many calls within one interval): " +
                    listed_by_cost(heavy));
  }
  if (!lighter.empty()) {
    lines.push_back("Left out of the plan: " + lighter);
  }
  return lines;
}

}  // namespace vprof::report
