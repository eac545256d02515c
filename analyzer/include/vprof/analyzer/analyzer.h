// The analyzer: from the traces of a run to the functions that explain the variance of its latency.
//
//                        *.vpt                  sites.json
//                          │ decode                 │
//                          ▼                        ▼
//      threads, each with frames, waits, releases, marks      (dissertation 2.3.1)
//                          │ critical path of each semantic interval, walked back from its end
//                          ▼                                  (2.3.3.3, Algorithm 2)
//      time of each place on it: request > process_order > wait(pthread_mutex_lock)
//                          │ exact sums over all intervals
//                          ▼
//      interval sums ◀──────────────▶ profile.vprof           merge() adds these up
//                          │ variances, covariances
//                          ▼
//      variance tree                                          (2.3.2.1, equations 2.1 and 2.2)
//                          │ share × specificity
//                          ▼
//      ranked factors                                         (after 2.3.2.2, Algorithm 1)
//
// Numbers: times are nanoseconds, and `_ns2` is their square. Contributions, shares and other
// fractions are 1 for the whole. The divisor of every variance and covariance is n. Node `f` has
// time X in an interval of latency T; X is 0 where f is not on the critical path.
//
// Words are used as in docs/glossary.md. Sections and equations are those of the dissertation
// (Huang, 2019). Where the analyzer differs from it, docs/analysis.md says why.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vprof/analyzer/trace_context.h"
#include "vprof/support/result.h"

namespace vprof::analyzer {

/// What factors are ranked, selected, expanded and dominated by. docs/analysis.md has the argument.
enum class Ranking : uint8_t {
  kShare,     ///< what goes with the latency: Cov(X, T) / Var(T)
  kVariance,  ///< what varies: Var(X) / Var(T), as equation 2.4 and Algorithm 1 have it
};

/// In the order of the enum, as in vprof.json.
inline constexpr std::array<const char*, 2> kRankings = {"share", "variance"};

/// The ranking rules: the power of (height of the graph - height of the factor) that is the
/// specificity of a factor. Equation 2.3 has kQuadratic.
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

/// A part of a recording in which the same sites were on, in ns of CLOCK_MONOTONIC. The recording
/// may still grow.
///
///   sites are on  |===============================================|
///                    from                   to              until
///   interval            |-----|          |------------|              both belong to it
///              |-----------|                |----|                   neither does
///
/// An interval belongs to the epoch in which it begins. Those that lie within an epoch would be too
/// short on average, since a longer one is more likely to cross an end of it.
///
/// Where the same sites are on all the time, an interval may belong to the epoch in which it ends
/// instead. Then it is incomplete if it began before the recording did.
///
/// An epoch may be a slice of a longer one, of which parts were not recorded (EpochSums). What was
/// recorded before the slice says nothing about it: an interval that was open then may have ended
/// meanwhile.
struct Epoch {
  int64_t from = INT64_MIN;
  int64_t to = INT64_MAX;  ///< not in it any more
  /// What began in the epoch and has not ended by then is incomplete. An analysis at a later time
  /// finds the same, to the nanosecond: what is known about clocks since then does not matter.
  int64_t until = INT64_MAX;
  bool by_end = false;
  /// What is older may be missing. Unless by_end, what ended before is not looked at.
  int64_t recorded_since = INT64_MIN;
  /// Processor time of the program between from and to, ns; 0: unknown. Nothing in a recording says
  /// so.
  double processor_ns = 0;

  bool is_all() const { return from == INT64_MIN && to == INT64_MAX; }
  bool contains(int64_t time) const { return time >= from && time < to; }
};

/// Settings of an analysis. `k`, `threshold`, `ranking` and `specificity` belong to Algorithm 1,
/// `dominance` to Algorithm 2 of the technical report.
struct Options {
  /// k: how many factors are asked for, at least 1.
  int k = 3;
  /// d: the least weight of a factor that is asked for, in [0, 1].
  double threshold = 0.05;
  /// m: an instance adds nothing to the weight of its factor if one child makes up its share but
  /// for the fraction 1 - m. Ranked by variance: if one child, or one covariance of two children,
  /// holds at least this fraction of its variance. In (0, 1].
  double dominance = 0.9;
  Ranking ranking = Ranking::kShare;
  Specificity specificity = Specificity::kQuadratic;
  /// The kind of interval, as named in sites.json. Empty: the kind with the most completed
  /// intervals; for timelines and tables, all kinds.
  std::string interval;
  /// Leaves out intervals that began earlier than this after the recording began.
  int64_t skip_ns = 0;
  /// Only the intervals of this.
  Epoch epoch = {};
  /// Factors whose weight is smaller than this (in magnitude) under both rankings are not listed.
  /// Nor are covariances that may well be 0, unless this is 0. If it is 0, bodies that are all of
  /// their functions everywhere are factors of their own as well, without instances.
  double least_listed = 0.01;
  /// Threads of the analysis; 0: one per core. Does not change the result.
  unsigned threads = 0;
  /// Records read at a time. More are in memory only while open intervals need them.
  uint64_t window = 1 << 17;
  /// About how much memory the sums of all places may take while intervals are added up, bytes.
  /// Where there are many places, fewer threads work side by side, and the intervals are in fewer
  /// batches, but no fewer than a jackknife needs.
  uint64_t memory = uint64_t{400} << 20;
};

/// What a node of the variance tree is: time in a function, in its body, in a wait, in work of
/// another thread that a wait or queue is blamed on, in a task queue, without a processor, in
/// nothing that was recorded, or while its thread had left it for its event loop. In the order of
/// profile files.
enum class NodeKind : uint8_t {
  kFunction,
  kBody,
  kWait,
  kBlame,
  kQueue,
  kPreempted,
  kUntracked,
  kParked
};

/// Name of the node below a wait that holds the waiting time without a known waker.
inline constexpr const char* kUnknownWaker = "unknown waker";
/// Name of the node below a wait that nobody ended: the thread gave up after a time limit.
inline constexpr const char* kTimeLimit = "time limit";
/// Names of nodes below an interval that its thread has left, or a suspended coroutine: it waited
/// for the time to pass, for a descriptor (`readiness of descriptor 5` in a timeline), or for an
/// event that is not known.
inline constexpr const char* kTimer = "timer";
inline constexpr const char* kReadiness = "readiness";
inline constexpr const char* kUnknownEvent = "unknown event";

/// Covariance of two children of one node (2.3.2.1).
struct Covariance {
  /// Indices into Node::children.
  uint32_t a = 0, b = 0;
  double covariance_ns2 = 0;
  /// 2 Cov(a, b) / Var(T); may be negative.
  double contribution = 0;
};

/// A node of the variance tree (2.3.2.1). The time of a node with children is the sum of theirs
/// (equation 2.1), so its variance is Σ Var + Σ 2 Cov of the children (equation 2.2).
struct Node {
  NodeKind kind = NodeKind::kFunction;
  /// Name for users: a qualified function name, `body(f)`, `wait(pthread_mutex_lock)`,
  /// `queue(cq_pop)`.
  std::string function;
  /// Key of the function in sites.json; empty for nodes that are not functions.
  std::string function_key;
  /// `file:line` of the call, or of the function if the call is not measured.
  std::string location;
  /// E[X] over all intervals.
  double mean_ns = 0;
  double variance_ns2 = 0;
  /// Var(X) / Var(T). May exceed 1 if a covariance is negative.
  double contribution = 0;
  /// Cov(X, T) / Var(T). Shares of siblings add up to that of their parent; the root has 1.
  double share = 0;
  /// (E[X | tail] - E[X]) / (E[T | tail] - E[T]), where the tail is the slowest 1 % of the
  /// intervals. Adds up as shares do. Nothing if the profile cannot tell the tail from the rest.
  std::optional<double> tail_share;
  /// The parts of the share that go with the declared amount of work, and with the mean latency of
  /// the label. Each adds up as shares do; the two overlap.
  double work_share = 0, label_share = 0;
  /// Intervals in which the node has time.
  uint64_t count = 0;
  std::vector<Covariance> covariances;
  /// By falling variance.
  std::vector<Node> children;
};

/// One occurrence of a factor in the variance tree (2.3.2.2).
struct Instance {
  /// Names from the root to the node; of a covariance: to the parent of the two.
  std::vector<std::string> path;
  /// As Node::location; of a covariance: of the first function.
  std::string location;
  double contribution = 0;
  /// Explained by its descendants, so it adds nothing to the weight of the factor
  /// (Options::dominance).
  bool dominated = false;
  /// Cov(X, T) / Var(T); of a covariance: of both nodes.
  double share = 0;
  /// Within another instance, whose time holds its own.
  bool nested = false;
  /// Of a wait in a library function whose call is measured: `file:line` of that call. Else empty.
  std::string call = {};
};

enum class FactorKind : uint8_t { kVariance, kCovariance };

/// What can be done about a factor next. The analyzer sets kExpandable, kExpanded and kLeaf; the
/// search sets kSelected and kSetAside.
enum class FactorStatus : uint8_t { kSelected, kExpandable, kExpanded, kLeaf, kSetAside };

/// An interval worth a look.
struct Exemplar {
  /// Its own among all of a recording: when it began, ns of CLOCK_MONOTONIC.
  uint64_t id = 0;
  /// Chosen by the program, and perhaps chosen again; 0: none.
  uint64_t key = 0;
  /// Time of the factor in it.
  double ns = 0;
  double latency_ns = 0;
  TraceContext trace = {};
};

/// The variance of a function or the covariance of two, summed over all instances (2.3.2.2).
struct Factor {
  /// From 1.
  int rank = 0;
  FactorKind kind = FactorKind::kVariance;
  /// One name, or two.
  std::vector<std::string> functions;
  /// Their keys in sites.json; empty strings for nodes that are not functions.
  std::vector<std::string> keys;
  /// `file:line` of the (first) function's definition; empty if unknown.
  std::string definition;
  /// Var(X) / Var(T), where X is the time of the function in an interval: all its outermost
  /// instances together. Of a covariance: Σ 2 Cov / Var(T) over its instances.
  double contribution = 0;
  /// 95 % confidence interval of the contribution; a point if there are fewer than two batches.
  std::array<double, 2> ci95{};
  /// contribution × Var(T)
  double variance_ns2 = 0;
  /// Standard error of variance_ns2; 0 if unknown.
  double error_ns2 = 0;
  /// Cov(X, T) / Var(T); of a covariance: of both its functions together.
  double share = 0;
  /// As ci95; of a covariance: {share, share}.
  std::array<double, 2> share_ci95{};
  /// Standard error of share × Var(T); 0 if unknown. Not in report.json.
  double share_error_ns2 = 0;
  /// Degrees of freedom of the standard errors; 0 if they are unknown. Not in report.json.
  double degrees = 0;
  /// Whether the share, or the covariance, is not 0 by chance, among all that were tested (Holm's
  /// procedure at 5 %). False if there are fewer than two batches.
  bool significant = true;
  /// The part of Var(T) that the ranking counts. By share: the share of the instances that are not
  /// dominated; of a covariance: 2 ρ min(share, share), where ρ is the correlation of the two; its
  /// contribution if that is negative. By variance: the contributions of the instances that are not
  /// dominated.
  double weight = 0;
  /// Sums over the outermost instances of the figures of Node; of a covariance: of both functions.
  std::optional<double> tail_share;
  /// Nothing if it is unknown.
  std::optional<std::array<double, 2>> tail_share_ci95;
  double work_share = 0;
  double label_share = 0;
  /// Longest chain of calls below the function; of a covariance: the greater of the two heights.
  int height = 0;
  /// Equation 2.3.
  double specificity = 0;
  /// specificity × weight; of what may be chance, no more than the lowest score of a cause that is
  /// certain. Ranked by variance, this is equation 2.4 with V as a fraction of Var(T).
  double score = 0;
  /// Equation 2.4 whatever the ranking, and the rank that it gives; 0: not ranked.
  double variance_score = 0;
  int variance_rank = 0;
  /// To be looked at first: among the first Options::k that weigh at least the threshold, are not 0
  /// by chance (may_be_zero(), marks.h), and are not the whole interval, made of measured
  /// functions.
  bool marked = false;
  FactorStatus status = FactorStatus::kLeaf;
  /// Those that add nothing to the weight last, otherwise by falling magnitude of the share (ranked
  /// by variance, and of a covariance: of the contribution).
  std::vector<Instance> instances;
  /// Up to three intervals around the median of a sample of those in which the factor has time.
  std::vector<Exemplar> typical;
  /// Up to three intervals in which the factor took longest, longest first.
  std::vector<Exemplar> worst;
};

/// Latency of the intervals with one label.
struct LabelSummary {
  /// Empty for intervals without a label.
  std::string label;
  uint64_t count = 0;
  double mean_ns = 0;
  double variance_ns2 = 0;
  /// To about 3 %. 0 in profiles of earlier versions.
  double p50_ns = 0, p95_ns = 0, p99_ns = 0;
  /// As in IntervalSummary.
  std::array<double, 2> mean_ci95{}, p50_ci95{}, p95_ci95{}, p99_ci95{};
};

/// The work that the program declared for its intervals (vprof_work). Intervals without a
/// declaration have 0 units.
struct WorkSummary {
  /// Intervals with an amount of work.
  uint64_t declared = 0;
  /// Units per interval.
  double mean = 0;
  /// Slope of the least-squares line of latency over units.
  double ns_per_unit = 0;
  /// r²: the fraction of Var(T) that the line explains.
  double explained = 0;
};

/// What intervals waited before their begin because the event loop that had seen them ready worked
/// for others. Not a part of the latency.
struct LoopQueueSummary {
  /// Intervals that an event loop began, and those of them that waited.
  uint64_t begun = 0, waited = 0;
  /// Of all that an event loop began; 0 for those that did not wait.
  double mean_ns = 0, p99_ns = 0;
  /// The sum of the waits over the sum of the latencies of these intervals.
  double share = 0;
};

/// What the time of an interval is spent on, as the interval sees it: a wait is a wait, whatever
/// others did meanwhile.
enum class TimeKind : uint8_t {
  kRunning,          ///< its threads had a processor, or waited for what is not recorded
  kPreempted,        ///< they ran, and others got it; after a wait that is the wait's
  kSynchronization,  ///< locks, conditions, other threads, and what the configuration names
  kQueue,            ///< in a queue, or for the turn of its event loop
  kIo,               ///< files, clients, other descriptors
  kSleep,            ///< for the time to pass
  kUntracked         ///< no thread is known to have worked for it
};

/// In the order of the enum, as in report.json.
inline constexpr std::array<const char*, 7> kTimeKinds = {
    "running", "preempted", "synchronization", "queue", "io", "sleep", "untracked"};

struct KindOfTime {
  TimeKind kind = TimeKind::kRunning;
  double mean_ns = 0;
  /// Cov(X, T) / Var(T)
  double share = 0;
  /// 95 % confidence interval; a point if there are fewer than two batches.
  std::array<double, 2> share_ci95{};
  /// Standard error of share × Var(T) and its degrees of freedom; 0 if unknown. Not in report.json.
  double share_error_ns2 = 0;
  double degrees = 0;
};

/// Latency of the completed intervals of one kind.
struct IntervalSummary {
  std::string name;
  /// Completed intervals.
  uint64_t count = 0;
  /// Intervals that began but did not end in the recording, or the reverse.
  uint64_t incomplete = 0;
  double mean_ns = 0, variance_ns2 = 0, stddev_ns = 0;
  /// Percentiles by nearest rank. They differ from the exact ones by less than 1/1024 of their
  /// value; below 2048 ns they are exact. The maximum is exact.
  double p50_ns = 0, p95_ns = 0, p99_ns = 0, p999_ns = 0, max_ns = 0;
  /// Most frequent first.
  std::vector<LabelSummary> labels;
  /// Var(E[T | label]) / Var(T)
  double between_labels = 0;
  WorkSummary work;
  LoopQueueSummary loop_queue;
  /// 95 % confidence intervals; {0, 0} if there are too few intervals for one.
  std::array<double, 2> mean_ci95{}, variance_ci95{}, p99_ci95{};
  /// Degrees of freedom of these; 0 if they are unknown. Not in report.json.
  double degrees = 0;
  /// The part of the squared deviations that is in the five slowest intervals. Not in report.json.
  double slowest_part = 0;
};

/// If the five slowest intervals carry more of the variance, a longer recording may rank factors
/// differently.
inline constexpr double kMostInSlowest = 0.5;

/// Limit of the records held at a time. Intervals that would need more are given up.
inline constexpr uint64_t kMaxHeldRecords = 3 << 20;

/// Everything that was lost or could not be explained. Every report shows it.
struct Losses {
  /// Records dropped for lack of room.
  uint64_t dropped = 0;
  /// Records cut off by the end of the program.
  uint64_t torn = 0;
  /// Bytes of damaged parts of trace files.
  uint64_t unreadable_bytes = 0;
  /// Waits on critical paths for disks, clocks and peers, whose wakers are not recorded.
  uint64_t outside_waits = 0;
  /// Other waits on critical paths without a known waker.
  uint64_t unknown_waits = 0;
  /// Wake-up edges on critical paths whose waker is inferred, and whose waker is certain.
  uint64_t inferred_edges = 0;
  uint64_t exact_edges = 0;
  /// Intervals on whose critical paths vprof set itself up, and how much of that was taken out. ns
  uint64_t set_up_intervals = 0;
  uint64_t set_up_ns = 0;
  /// Intervals left out since more than kMaxHeldRecords lay between their begin and end.
  uint64_t given_up = 0;
  /// Intervals whose leaves do not add up to their latency.
  uint64_t violations = 0;
  /// One line each, for the report. A profile has one for what was set up, given up or does not
  /// add up, too.
  std::vector<std::string> notes;
};

/// Names of the classes of waits that a recording may leave out: "mutex", "stream", ...
std::vector<std::string> wait_class_names();

/// What a recorded wait costs, in records, where the runtime did not count its own system calls: to
/// ask what was waited for and how long the thread had a processor.
inline constexpr uint64_t kRecordsPerWait = 25;

/// What was recorded while threads worked for some of the intervals: those with one label, or the
/// slow ones that most of the variance is in.
struct GroupCost {
  /// Of all intervals of the group; empty: they have none, or `from_ns` says what they have in
  /// common.
  std::string label;
  /// Of the slow ones: the least latency. 0: all intervals with the label.
  double from_ns = 0;
  uint64_t count = 0;
  /// Σ of their latencies. Here and below: without the time in which their threads had no
  /// processor, which says something about the machine.
  double latency_ns = 0;
  /// Part of Σ (T - E[T])² that is theirs.
  double deviation = 0;
  /// Made by their own threads. A wait counts as kRecordsPerWait.
  uint64_t records = 0;
};

/// What measuring cost. docs/analysis.md says how its parts are put together.
struct Overhead {
  uint64_t records = 0;
  /// Waits and preemptions among the records: those for which a thread asked the kernel.
  uint64_t waits = 0;
  uint64_t dropped = 0;
  uint64_t chunks = 0;
  /// How often a thread had to prepare its own buffer.
  uint64_t stalls = 0;
  /// Threads that made records in this recording; 0 for merged profiles.
  uint64_t threads = 0;
  /// How the intervals compare with this recording; 0 for merged profiles. From the first begin to
  /// the last end:
  double run_ns = 0;
  /// Threads that worked for intervals, for how long they did, and how long they could have, each
  /// from when it first did to when it last did.
  uint64_t working_threads = 0;
  double working_ns = 0, present_ns = 0;
  /// Calibrated cost of one scope: of its instructions, again and again.
  double record_ns = 0;
  /// What recording really costs over what the calibration says, if a live search has measured it
  /// against its pauses, and a 95 % interval of that; {0, 0}: it has not.
  double cost_factor = 1;
  std::array<double, 2> cost_factor_ci95{};
  /// Processor time of the program since it began to record: of all threads; and of the helper,
  /// with what starting the recording took. 0: unknown.
  double processor_ns = 0, helper_ns = 0;
  /// That of the program and the helper since the processes began; 0: unknown. A run that records
  /// intervals only begins to record with the first one, after the program has started up.
  double process_ns = 0;
  /// The part of the time in which anything was recorded, of which all figures here are: a live
  /// search pauses to stay within its budget.
  double recorded_part = 1;
  /// The runtime's own system calls in the program's threads, as if each were the cheapest one: to
  /// ask what was waited for, and how long the thread had a processor. 0: unknown.
  double calls_ns = 0;
  /// Calls that the runtime intercepted and timed, most of which did not wait.
  uint64_t timed_calls = 0;
  /// The thread that made most records, from its first buffer to its last: its name, what it
  /// recorded (in slots), its processor time, and the time that passed. Empty and 0 if no thread
  /// filled a buffer.
  std::string thread = {};
  uint64_t thread_records = 0;
  double thread_ns = 0, thread_passed_ns = 0;
  std::vector<GroupCost> groups = {};
  /// Mean latency of the baseline, the run with all sites off; 0 if there is none.
  double baseline_mean_ns = 0;
  /// Mean latency over that of the baseline, with its 95 % confidence interval; {0, 0} if there are
  /// too few intervals for one.
  double mean_ratio = 1.0;
  std::array<double, 2> mean_ratio_ci95{};
  /// Ratio of the medians, which single slow intervals hardly move.
  double median_ratio = 1.0;
  /// Ratio of the variances of the latency.
  double variance_ratio = 1.0;
  /// Processor time per interval, of program and helper, over that of the baseline; 0: unknown.
  double processor_ratio = 0;
};

/// The result of an analysis.
struct Profile {
  IntervalSummary interval;
  /// Those that have time, by falling share. Means add up to the mean latency, shares to 1.
  std::vector<KindOfTime> kinds;
  /// The root is the interval.
  Node tree;
  /// All factors that weigh at least Options::least_listed, by rank.
  std::vector<Factor> factors;
  /// What share of the variance the marked factors have together. What is within another one counts
  /// once.
  double marked_share = 0;
  /// Whether further factors would be marked if Options::k were larger.
  bool more_to_tell = false;
  Losses losses;
  Overhead overhead;
  /// As in Options.
  int k = 3;
  double threshold = 0.05;
  Ranking ranking = Ranking::kShare;
  /// How often each site was passed by the threads of a group of intervals: by group (of
  /// Overhead::groups), then site id. Only of a profile that analyze() made; not in the files.
  std::vector<std::vector<uint64_t>> group_calls;
  /// The bytes of the profile file, which merge() and details_of() read. Not in report.json.
  std::string bytes;
};

/// A profile file, read into memory.
struct ProfileBytes {
  /// The file at fault in error messages.
  std::string name;
  std::string bytes;
};

/// Analyses one recording: all `*.vpt` files of `trace_dir`, with the `sites.json` at `sites_json`.
/// The same input gives the same result, to the last bit.
///
/// Errors, one line that names the file and says what to do: there is no trace, it is unreadable or
/// of another version, Options::interval is unknown. ErrorKind::kNoInterval: no interval completed.
Result<Profile> analyze(const std::string& trace_dir, const std::string& sites_json,
                        const Options& options);

/// Adds up profiles of one kind of interval. The result does not depend on their order, and is that
/// of one analysis of all their recordings.
///
/// Errors, one line that begins with the name of the profile: it is damaged or of another version,
/// or its interval is not that of the first. There must be at least one profile.
Result<Profile> merge(const std::vector<ProfileBytes>& profiles, const Options& options);

/// How often each site was passed in a recording, or in Options::epoch, by site id. Errors as for
/// analyze(); a recording without intervals is not an error.
Result<std::vector<uint64_t>> count_calls(const std::string& trace_dir, const Options& options);

}  // namespace vprof::analyzer
