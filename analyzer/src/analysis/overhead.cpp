#include "vprof/analyzer/overhead.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace vprof::analyzer {
namespace {

/// Calibration repeats the instructions of a record in a loop, on memory and predictions that stay
/// warm. In a program they also take room in its caches and pipelines, and keep the compiler from
/// inlining. Fitted to real programs: docs/performance.md.
constexpr double kInProgram = 1.3;

/// What a system call of the runtime costs in a program, in cheapest system calls: it asks for more
/// than that one does. Fitted likewise.
constexpr double kCallInProgram = 3;

/// What it costs to intercept a call and time it, in records: it reads the clock twice, as a frame.
constexpr double kRecordsPerTimedCall = 1;

constexpr uint64_t kSlotsOfWait = 3;  // a head and two continuations

/// Half the width of a 95 % interval, on a logarithmic scale.
double log_reach(const std::array<double, 2>& ci95) {
  return ci95[0] > 0 ? std::log(ci95[1] / ci95[0]) / 2 : 0;
}

double ratio(double a, double b) { return b > 0 ? a / b : 1.0; }

/// What `all_ns` in all threads adds to the time that the thread which made most records is busy.
/// What kinds of records it made is not known: as all others.
double thread_cost_of(double all_ns, const Overhead& overhead) {
  const auto slots = static_cast<double>(overhead.records + (kSlotsOfWait - 1) * overhead.waits);
  const double each = slots > 0 ? all_ns / slots : 0;
  return added_by(static_cast<double>(overhead.thread_records) * each, overhead.thread_ns);
}

/// ρ / (1 - ρ) of that thread, at most 1. A load of 0 is unknown: as if it were always busy.
double part_of_load(const Overhead& overhead) {
  const double load = thread_load(overhead);
  return load > 0 && load < 0.5 ? load / (1 - load) : 1;
}

}  // namespace

double record_cost_ns(const Overhead& overhead) {
  return overhead.cost_factor * kInProgram * overhead.record_ns;
}

double calls_cost_ns(const Overhead& overhead) {
  return overhead.cost_factor * kCallInProgram * overhead.calls_ns +
         kRecordsPerTimedCall * static_cast<double>(overhead.timed_calls) *
             record_cost_ns(overhead);
}

double records_ns(const Overhead& overhead) {
  // Where the runtime has counted its own system calls, a wait is only longer than other records.
  const uint64_t wait = overhead.calls_ns > 0 ? kSlotsOfWait : kRecordsPerWait;
  const uint64_t records = overhead.records + (wait - 1) * overhead.waits;
  return static_cast<double>(records) * record_cost_ns(overhead);
}

double recording_ns(const Overhead& overhead) {
  return records_ns(overhead) + calls_cost_ns(overhead);
}

double added_by(double records_ns, double ns) {
  if (records_ns <= 0 || ns <= 0) {
    return 0;
  }
  const double rest = ns - records_ns;
  return rest > 0 ? std::min(records_ns / rest, kMostCost) : kMostCost;
}

double program_cost(const Overhead& overhead) {
  return added_by(recording_ns(overhead) + overhead.helper_ns, overhead.processor_ns);
}

std::array<double, 2> program_cost_ci95(const Overhead& overhead) {
  if (overhead.cost_factor_ci95[1] <= 0) {
    return {};
  }
  const auto at = [&](double factor) {
    return added_by(recording_ns(overhead) / overhead.cost_factor * factor + overhead.helper_ns,
                    overhead.processor_ns);
  };
  return {at(overhead.cost_factor_ci95[0]), at(overhead.cost_factor_ci95[1])};
}

double thread_cost(const Overhead& overhead) {
  return thread_cost_of(recording_ns(overhead), overhead);
}

double queueing_cost(const Overhead& overhead) {
  return part_of_load(overhead) * thread_cost(overhead);
}

double measuring_cost(const Overhead& overhead) {
  const double records = records_ns(overhead);
  const double helper = std::min(overhead.helper_ns, records);
  const double program =
      added_by(records + helper, overhead.processor_ns - (overhead.helper_ns - helper));
  return std::max(program, part_of_load(overhead) * thread_cost_of(records, overhead));
}

double thread_load(const Overhead& overhead) {
  return overhead.thread_passed_ns > 0
             ? std::min(1.0, overhead.thread_ns / overhead.thread_passed_ns)
             : 0;
}

double group_cost(const GroupCost& group, const Overhead& overhead) {
  return added_by(static_cast<double>(group.records) * record_cost_ns(overhead), group.latency_ns);
}

void compare_with_baseline(const IntervalSummary& run, const IntervalSummary& baseline,
                           double processor_ns, Overhead& overhead) {
  if (baseline.count == 0 || baseline.mean_ns <= 0) {
    return;
  }
  overhead.baseline_mean_ns = baseline.mean_ns;
  overhead.mean_ratio = run.mean_ns / baseline.mean_ns;
  overhead.median_ratio = ratio(run.p50_ns, baseline.p50_ns);
  overhead.variance_ratio = ratio(run.variance_ns2, baseline.variance_ns2);
  if (processor_ns > 0 && overhead.process_ns > 0 && run.count != 0) {
    overhead.processor_ratio = overhead.process_ns / static_cast<double>(run.count) / processor_ns;
  }
  // The runs are independent, so the squares of the errors of their logarithms add up.
  const double a = log_reach(run.mean_ci95);
  const double b = log_reach(baseline.mean_ci95);
  if (a <= 0 || b <= 0) {
    return;
  }
  const double reach = std::sqrt(a * a + b * b);
  overhead.mean_ratio_ci95 = {overhead.mean_ratio * std::exp(-reach),
                              overhead.mean_ratio * std::exp(reach)};
}

}  // namespace vprof::analyzer
