// What measuring costs, from what was counted: records × cost of a record, over the time that the
// threads which made them were busy. No latency of another run comes into it, so noise does not.
// docs/analysis.md has the model, docs/performance.md how well it fits.
#pragma once

#include <array>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// What one record costs within a program, in ns: more than its instructions alone, again and
/// again (Overhead::record_ns). 0: unknown.
double record_cost_ns(const Overhead& overhead);

/// What the runtime does in the program's threads besides records, in ns: its own system calls, and
/// intercepting calls and timing them. No plan changes it. 0: unknown.
double calls_cost_ns(const Overhead& overhead);

/// What all records cost, in ns, the waits among them included.
double records_ns(const Overhead& overhead);

/// The sum of the two.
double recording_ns(const Overhead& overhead);

/// What `records` add to `ns` of which they are a part, as a fraction of what remains without them.
/// At most kMostCost.
double added_by(double records_ns, double ns);
inline constexpr double kMostCost = 10;

/// What recording adds to the processor time of the program: records, calls and helper thread. 0:
/// unknown.
double program_cost(const Overhead& overhead);

/// Its 95 % confidence interval, where a live search has measured it (Overhead::cost_factor). {0,
/// 0}: it has not.
std::array<double, 2> program_cost_ci95(const Overhead& overhead);

/// What it adds to the time that the thread which made most records is busy. 0: unknown.
double thread_cost(const Overhead& overhead);

/// Part of the time in which that thread was on a processor. If it is near 1, whoever waits for the
/// thread waits for the records of all others, too. 0: unknown.
double thread_load(const Overhead& overhead);

/// What the records of others add to a request that waits for that thread, relative to the time
/// that the thread works for it: thread_cost() × ρ / (1 - ρ), where ρ is thread_load(), and
/// thread_cost() from half load on. docs/analysis.md, "What measuring costs".
double queueing_cost(const Overhead& overhead);

/// The greater of program_cost() and queueing_cost(), which the budget is about: of the records.
/// The calls do not count, nor what the helper took beyond the cost of the records, which is its
/// start: no plan changes them.
double measuring_cost(const Overhead& overhead);

/// What the records made for these intervals add to their latency.
double group_cost(const GroupCost& group, const Overhead& overhead);

/// Fills in the ratios of `overhead` from a run and its baseline. Leaves it as it is if the
/// baseline has no interval.
/// @param processor_ns of the baseline, per interval; 0: unknown
void compare_with_baseline(const IntervalSummary& run, const IntervalSummary& baseline,
                           double processor_ns, Overhead& overhead);

}  // namespace vprof::analyzer
