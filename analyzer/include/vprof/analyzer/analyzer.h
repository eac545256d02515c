// From traces to ranked factors:
//
//   trace + sites.json ──read──▶ threads {segments, frames, waits} ──critical path──▶ times of each
//   interval
//                      ──moments──▶ variance tree ──select──▶ factors
//
// Units: all times in nanoseconds unless a name says ticks. The divisor of every variance and
// covariance is n.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "vprof/support/result.h"

namespace vprof::analyzer {

/// The ranking rules: which power of its distance to the root of the call graph is the specificity
/// of a factor (equation 2.3 has kQuadratic).
enum class Specificity : uint8_t { kLinear, kQuadratic, kCubic };

struct SpecificityRule {
  const char* name;  ///< in vprof.json
  int power;
};

/// In the order of the enum.
inline constexpr std::array<SpecificityRule, 3> kSpecificityRules = {
    {{"linear", 1}, {"quadratic", 2}, {"cubic", 3}}};

constexpr const SpecificityRule& rule_of(Specificity specificity) {
  return kSpecificityRules.at(static_cast<size_t>(specificity));
}

/// What the user can set about factor selection (dissertation, Algorithm 1; technical report,
/// Algorithm 2 for `dominance`).
struct Options {
  int k = 3;  ///< how many factors are asked for
  double threshold =
      0.05;  ///< d: least contribution of a factor, as a part of the variance of the latency
  double dominance =
      0.9;  ///< m: an instance one of whose children holds this part of it counts nothing itself
  Specificity specificity = Specificity::kQuadratic;
  std::string
      interval;  ///< which interval of sites.json; empty: the one with most completed executions
  int64_t skip_ns = 0;  ///< leaves out intervals that began earlier than this after the recording
  double least_listed = 0.01;  ///< least contribution with which a factor is listed
  unsigned threads = 0;  ///< of the analysis; 0: one per core. The result does not depend on it
  uint64_t window =
      1 << 17;  ///< records read at a time; more are held only where open intervals need them
};

enum class NodeKind : uint8_t { kFunction, kBody, kWait, kBlame, kQueue, kPreempted, kUntracked };

/// Name of a node below a wait: the part of the wait that nobody is known to have ended.
inline constexpr const char* kUnknownWaker = "unknown waker";

/// Covariance of two children of one node. `contribution` = 2 Cov / Var(latency).
struct Covariance {
  uint32_t a = 0, b = 0;  ///< indices into Node::children
  double covariance_ns2 = 0;
  double contribution = 0;
};

/// A node of the variance tree. Children and their covariances add up to the node (Var of the
/// children + 2 Cov).
struct Node {
  NodeKind kind = NodeKind::kFunction;
  std::string function;      ///< as a user would write it; `body(f)`, `wait(pthread_mutex_lock)`,
                             ///< `queue(cq_pop)`
  std::string function_key;  ///< key in sites.json, empty where there is none
  std::string site;          ///< `file:line` of the call, or of the function
  double mean_ns = 0;
  double variance_ns2 = 0;
  double contribution = 0;  ///< Var / Var(latency)
  double share = 0;         ///< Cov(node, latency) / Var(latency); adds up over siblings
  double tail_share = 0;    ///< part of (mean beyond p99 - mean); adds up over siblings
  /// Parts of the share: what goes with the declared amount of work, and what with the label's mean
  /// latency. They add up over siblings; the two overlap.
  double work_share = 0, label_share = 0;
  uint64_t count = 0;  ///< intervals in which it had time
  std::vector<Covariance> covariances;
  std::vector<Node> children;
};

struct Instance {
  std::vector<std::string> path;  ///< names from the root to the node
  std::string site;
  double contribution = 0;
  bool dominated = false;  ///< counts nothing in the factor's contribution (Options::dominance)
};

enum class FactorKind : uint8_t { kVariance, kCovariance };
enum class FactorStatus : uint8_t { kSelected, kExpandable, kExpanded, kLeaf, kSetAside };

/// An interval to look at.
struct Exemplar {
  uint64_t id = 0;        ///< as the program named it
  double ns = 0;          ///< of the factor in it
  double latency_ns = 0;  ///< of all of it
};

/// Variance of a function or covariance of two, over all instances (dissertation 2.3.2.2).
struct Factor {
  int rank = 0;  ///< 1 is first
  FactorKind kind = FactorKind::kVariance;
  std::vector<std::string> functions;  ///< one, or two
  std::vector<std::string> keys;       ///< function keys, empty strings where there is none
  std::string definition;              ///< `file:line` of the (first) function, empty if unknown
  double contribution = 0;
  std::array<double, 2> ci95{};  ///< of the contribution
  double variance_ns2 = 0;       ///< contribution times Var(latency)
  double error_ns2 = 0;          ///< standard error of that
  double share = 0;
  double tail_share = 0;
  double work_share = 0;   ///< as of a node
  double label_share = 0;  ///< as of a node
  int height = 0;
  double specificity = 0;
  double score = 0;  ///< equation 2.4, with V as a part of Var(latency)
  FactorStatus status = FactorStatus::kLeaf;
  std::vector<Instance> instances;
  std::vector<Exemplar> typical;  ///< near the median of those in which it had time
  std::vector<Exemplar> worst;    ///< in which it took longest
};

struct LabelSummary {
  std::string label;
  uint64_t count = 0;
  double mean_ns = 0;
  double variance_ns2 = 0;
};

/// Work that the program declared for its intervals (vprof_work). Those of which it said nothing
/// count as 0 units.
struct WorkSummary {
  uint64_t declared = 0;   ///< intervals with an amount of work
  double mean = 0;         ///< units per interval
  double ns_per_unit = 0;  ///< slope of the line of least squares of latency over units
  double explained = 0;    ///< part of the variance of the latency that goes with it (r²)
};

struct IntervalSummary {
  std::string name;
  uint64_t count = 0;
  uint64_t incomplete = 0;  ///< begun but not ended in the trace, or ended without a begin
  double mean_ns = 0, variance_ns2 = 0, stddev_ns = 0;
  double p50_ns = 0, p95_ns = 0, p99_ns = 0, p999_ns = 0, max_ns = 0;
  std::vector<LabelSummary> labels;
  double between_labels = 0;  ///< Var(E[latency | label]) / Var(latency)
  WorkSummary work;
  /// 95 % confidence intervals; {0, 0}: too few intervals for one.
  std::array<double, 2> mean_ci95{}, variance_ci95{}, p99_ci95{};
};

/// Everything that was lost or could not be explained. Shown in every report.
struct Losses {
  uint64_t dropped = 0;           ///< records that found no room
  uint64_t torn = 0;              ///< records cut off by the end of the program
  uint64_t unreadable_bytes = 0;  ///< damaged parts of trace files
  uint64_t outside_waits = 0;     ///< waits on the path for disks, clocks and peers not recorded
  uint64_t unmatched_waits = 0;   ///< other waits on the path with no known waker
  uint64_t inferred_edges = 0;
  uint64_t exact_edges = 0;
  std::vector<std::string> notes;  ///< one line each, for people
};

/// What the kinds of waits are called that a recording may leave out ("mutex", "stream", ...).
std::vector<std::string> wait_classes();

struct Overhead {
  uint64_t records = 0;
  uint64_t dropped = 0;
  uint64_t chunks = 0;
  uint64_t stalls = 0;
  uint64_t threads = 0;         ///< that made records in this recording; 0 of a sum of several
  double record_ns = 0;         ///< calibrated cost of one scope
  double baseline_mean_ns = 0;  ///< mean latency of the run with all sites off; 0: no such run
  double mean_ratio = 1.0;      ///< mean / baseline mean
  /// 95 % confidence interval of that; {0, 0}: too few intervals for one.
  std::array<double, 2> mean_ratio_ci95{};
  double median_ratio = 1.0;    ///< of the medians: hardly moved by single slow intervals
  double variance_ratio = 1.0;  ///< of the variances of the latency
};

/// What measuring changes: the latencies of a run, compared with those of one with all sites off.
/// Leaves `overhead` as it is if the baseline holds no interval.
void compare_with_baseline(const IntervalSummary& run, const IntervalSummary& baseline,
                           Overhead& overhead);

struct Profile {
  IntervalSummary interval;
  Node tree;                    ///< root: the interval
  std::vector<Factor> factors;  ///< ranked; every factor with a contribution of at least 0.01
  Losses losses;
  Overhead overhead;
  int k = 3;
  double threshold = 0.05;
  std::string sums;  ///< the profile file: what merge() takes; not part of report.json
};

/// Analyses one recording: all `*.vpt` files of `trace_dir`, with `sites_json`.
/// Errors (one line, names the file and what to do): no trace, foreign or unreadable trace, no
/// completed interval. Same input, same result, to the last bit.
Result<Profile> analyze(const std::string& trace_dir, const std::string& sites_json,
                        const Options& options);

/// Adds up profile files (their bytes) of one interval. The result is that of one analysis of all
/// their recordings, in any order; a single profile gives what analyze() returned. Error: one line
/// that begins with the name of the file at fault.
/// @param names of the profiles, for errors; without names their numbers, from 1
Result<Profile> merge(const std::vector<std::string>& profiles, const Options& options,
                      const std::vector<std::string>& names = {});

/// How often each site was passed in a recording, by site id. Error: as of analyze().
Result<std::vector<uint64_t>> count_calls(const std::string& trace_dir, const Options& options);

}  // namespace vprof::analyzer
