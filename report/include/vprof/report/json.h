// How report.json holds each struct: the one description from which writer, reader and
// schemas/report.schema.json come. Fields are added, never renamed; a field added after the first
// version is optional, so that reports made earlier still load.
#pragma once

#include "vprof/analyzer/analyzer.h"
#include "vprof/report/report.h"
#include "vprof/support/json_fields.h"

namespace vprof::report {

/// The word that report.json and the texts use for an enum's value.
template <class Enum>
constexpr const char* word_for(Enum value) {
  return json::Words<Enum>::kWords[static_cast<size_t>(value)];
}

/// JSON Schemas (draft-07) of report.json and of what verbs answer with --json. The files in
/// schemas/ hold the same.
nlohmann::json report_schema();
nlohmann::json diff_schema();
nlohmann::json history_schema();
nlohmann::json timeline_schema();
nlohmann::json annotate_schema();

}  // namespace vprof::report

namespace vprof::json {

template <>
struct Words<analyzer::NodeKind> {
  static constexpr std::array kWords = {"function", "body",      "wait",      "blame",
                                        "queue",    "preempted", "untracked", "parked"};
};
static_assert(static_cast<size_t>(analyzer::NodeKind::kParked) + 1 ==
              Words<analyzer::NodeKind>::kWords.size());

template <>
struct Words<analyzer::FactorKind> {
  static constexpr std::array kWords = {"variance", "covariance"};
};
static_assert(static_cast<size_t>(analyzer::FactorKind::kCovariance) + 1 ==
              Words<analyzer::FactorKind>::kWords.size());

template <>
struct Words<analyzer::Ranking> {
  static constexpr std::array kWords = analyzer::kRankings;
};
static_assert(static_cast<size_t>(analyzer::Ranking::kVariance) + 1 ==
              Words<analyzer::Ranking>::kWords.size());

template <>
struct Words<analyzer::TimeKind> {
  static constexpr std::array kWords = analyzer::kTimeKinds;
};
static_assert(static_cast<size_t>(analyzer::TimeKind::kUntracked) + 1 ==
              Words<analyzer::TimeKind>::kWords.size());

template <>
struct Words<analyzer::FactorStatus> {
  static constexpr std::array kWords = {"selected", "expandable", "expanded", "leaf", "set-aside"};
};
static_assert(static_cast<size_t>(analyzer::FactorStatus::kSetAside) + 1 ==
              Words<analyzer::FactorStatus>::kWords.size());

template <>
struct Object<analyzer::LabelSummary> {
  using T = analyzer::LabelSummary;
  static constexpr auto kFields =
      std::tuple{required("label", &T::label, "empty: intervals without a label"),
                 required("count", &T::count),
                 required("mean_ns", &T::mean_ns),
                 required("variance_ns2", &T::variance_ns2, "divisor n"),
                 optional("p50_ns", &T::p50_ns, "percentiles to about 3 %; 0: unknown"),
                 optional("p95_ns", &T::p95_ns),
                 optional("p99_ns", &T::p99_ns),
                 optional("mean_ci95", &T::mean_ci95,
                          "95 % confidence interval; [0, 0]: too few intervals for one"),
                 optional("p50_ci95", &T::p50_ci95),
                 optional("p95_ci95", &T::p95_ci95),
                 optional("p99_ci95", &T::p99_ci95)};
};

template <>
struct Object<analyzer::WorkSummary> {
  using T = analyzer::WorkSummary;
  static constexpr const char* kDescription =
      "work declared with vprof_work(); an interval that declares none counts as 0 units";
  static constexpr auto kFields = std::tuple{
      required("declared", &T::declared, "intervals with an amount of work"),
      required("mean", &T::mean, "units per interval"),
      required("ns_per_unit", &T::ns_per_unit, "slope of the least-squares line of latency"),
      required("explained", &T::explained, "r²: part of the variance explained by work")};
};

template <>
struct Object<analyzer::LoopQueueSummary> {
  using T = analyzer::LoopQueueSummary;
  static constexpr const char* kDescription =
      "queue(event loop): what intervals waited before their begin while the event loop that had "
      "seen them ready worked for others; not a part of the latency";
  static constexpr auto kFields =
      std::tuple{required("begun", &T::begun, "intervals that an event loop began"),
                 required("waited", &T::waited, "those of them that waited"),
                 required("mean_ns", &T::mean_ns, "over all that an event loop began"),
                 required("p99_ns", &T::p99_ns, "the same"),
                 required("share", &T::share, "sum of the waits over the sum of the latencies")};
};

template <>
struct Object<analyzer::IntervalSummary> {
  using T = analyzer::IntervalSummary;
  static constexpr const char* kConfidence =
      "95 % confidence interval; [0, 0]: too few intervals for one";
  static constexpr auto kFields = std::tuple{
      required("name", &T::name),
      required("count", &T::count, "completed intervals"),
      required("incomplete", &T::incomplete, "begun but not ended, or ended but not begun"),
      required("mean_ns", &T::mean_ns),
      required("variance_ns2", &T::variance_ns2, "divisor n"),
      required("stddev_ns", &T::stddev_ns),
      required("p50_ns", &T::p50_ns),
      required("p95_ns", &T::p95_ns),
      required("p99_ns", &T::p99_ns),
      required("p999_ns", &T::p999_ns),
      required("max_ns", &T::max_ns),
      optional("mean_ci95", &T::mean_ci95, kConfidence),
      optional("variance_ci95", &T::variance_ci95, kConfidence),
      optional("p99_ci95", &T::p99_ci95, kConfidence),
      required("labels", &T::labels, "most frequent first"),
      required("between_labels", &T::between_labels,
               "part of the variance that lies between the labels' means"),
      optional("work", &T::work),
      optional("loop_queue", &T::loop_queue)};
};

template <>
struct Object<analyzer::KindOfTime> {
  using T = analyzer::KindOfTime;
  static constexpr const char* kDescription =
      "what intervals spend their time on, as they see it: a wait is a wait, whatever others did";
  static constexpr auto kFields =
      std::tuple{required("kind", &T::kind), required("mean_ns", &T::mean_ns),
                 required("share", &T::share, "Cov(time, latency) / Var(latency); together 1"),
                 required("share_ci95", &T::share_ci95, "95 % confidence interval of the share")};
};

/// The bytes of a trace id are read as digits, as in a traceparent.
template <>
struct Object<analyzer::TraceContext> {
  using T = analyzer::TraceContext;
  static constexpr const char* kDescription =
      "the trace of another system that the interval belongs to (W3C Trace Context)";
  static constexpr auto kFields = std::tuple{};
  static void written(const T& trace, Json& to);
  static void check(T& trace, const Json& from);
  static void described(Json& schema);
};

template <>
struct Object<analyzer::Exemplar> {
  using T = analyzer::Exemplar;
  static constexpr const char* kDescription = "an interval to look at with `vprof timeline`";
  static constexpr auto kFields =
      std::tuple{digits(required("id", &T::id, "digits; a number in earlier versions")),
                 digits(optional("key", &T::key, "digits; 0: none")),
                 required("ns", &T::ns, "time of the factor in it"),
                 required("latency_ns", &T::latency_ns), non_default("trace", &T::trace)};
};

template <>
struct Object<analyzer::Instance> {
  using T = analyzer::Instance;
  static constexpr auto kFields = std::tuple{
      required("path", &T::path, "names from the root; of a covariance: to the common parent"),
      required("site", &T::location, "`file:line` of the call"),
      required("contribution", &T::contribution),
      optional("share", &T::share, "of a covariance: of both functions"),
      optional("dominated", &T::dominated,
               "explained by one of its callees, so not part of the factor's weight"),
      optional("nested", &T::nested, "within another instance, whose time holds its own"),
      non_default("call", &T::call,
                  "of a wait in a library function: `file:line` of the call of that function")};
};

template <>
struct Object<analyzer::Factor> {
  using T = analyzer::Factor;
  static constexpr auto kFields = std::tuple{
      required("rank", &T::rank, "from 1"),
      required("kind", &T::kind, "of one function, or of two together"),
      required("functions", &T::functions, "one name, or two"),
      optional("keys", &T::keys,
               "tell functions of the same name apart; empty for waits, bodies and queues"),
      optional("definition", &T::definition, "`file:line` of the first function; empty: unknown"),
      required("contribution", &T::contribution,
               "Var / Var(latency) of the time of the function; of a pair: 2 Cov / Var(latency)"),
      required("ci95", &T::ci95, "95 % confidence interval of the contribution"),
      optional("variance_ns2", &T::variance_ns2, "contribution times the variance of the latency"),
      optional("error_ns2", &T::error_ns2, "standard error of `variance_ns2`"),
      required("share", &T::share,
               "Cov(factor, latency) / Var(latency); of a pair: of both functions together"),
      optional("share_ci95", &T::share_ci95, "95 % confidence interval of the share"),
      optional("significant", &T::significant,
               "the share, or the covariance of a pair, is not 0 by chance, among all tested"),
      optional(
          "weight", &T::weight,
          "what the ranking counts: by share, without what is explained below, or by variance"),
      required("tail_share", &T::tail_share,
               "part of what the slowest 1 % take longer than the mean; null: not known"),
      optional("tail_share_ci95", &T::tail_share_ci95,
               "95 % confidence interval of the tail share; null: not known"),
      optional("work_share", &T::work_share, "part of the share explained by declared work"),
      optional("label_share", &T::label_share,
               "part of the share explained by the label; 0 if there are more than 64 labels"),
      required("height", &T::height, "longest chain of calls below the function"),
      required("specificity", &T::specificity, "of the height in the call graph"),
      required("score", &T::score, "specificity times weight; factors are ranked by it"),
      optional("variance_score", &T::variance_score,
               "specificity times Σ Var, the score of equation 2.4"),
      optional("variance_rank", &T::variance_rank, "rank by that score; 0: none"),
      optional("marked", &T::marked, "look here first"),
      required("status", &T::status),
      required("instances", &T::instances, "those that weigh most first"),
      optional("typical", &T::typical, "intervals near the median of those with time in it"),
      optional("worst", &T::worst, "intervals in which it took longest")};
  static void check(T& factor, const Json& from);
};

template <>
struct Object<analyzer::Covariance> {
  using T = analyzer::Covariance;
  static constexpr auto kFields =
      std::tuple{required("covariance_ns2", &T::covariance_ns2),
                 required("contribution", &T::contribution, "2 Cov / Var(latency)")};
};

/// A node adds to its covariances what they alone cannot say: which two children they are of.
template <>
struct Object<analyzer::Node> {
  using T = analyzer::Node;
  static constexpr const char* kName = "node";
  static constexpr auto kFields = std::tuple{
      required("function", &T::function,
               "`f`, `body(f)`, `wait(...)`, `queue(...)`, `parked(...)`"),
      optional("key", &T::function_key, "function key in sites.json; empty: none"),
      required("kind", &T::kind,
               "blame: a function of other work, below a wait, a queue or a park"),
      optional("site", &T::location, "`file:line` of the call, or of the function"),
      required("mean_ns", &T::mean_ns),
      required("variance_ns2", &T::variance_ns2),
      required("contribution", &T::contribution, "Var / Var(latency)"),
      required("share", &T::share, "Cov(node, latency) / Var(latency); adds up over siblings"),
      optional("tail_share", &T::tail_share, "adds up over siblings; null: not known"),
      optional("work_share", &T::work_share),
      optional("label_share", &T::label_share),
      optional("count", &T::count, "intervals in which it had time"),
      required("covariances", &T::covariances, "of pairs of children"),
      required("children", &T::children)};
  static void written(const T& node, Json& to);
  static void check(T& node, const Json& from);
  static void described(Json& schema);
};

template <>
struct Object<analyzer::Losses> {
  using T = analyzer::Losses;
  static constexpr const char* kDescription =
      "what was lost, and how the ends of the waits on critical paths are known";
  static constexpr auto kFields = std::tuple{
      required("dropped", &T::dropped, "records for which the buffers had no room"),
      required("torn", &T::torn, "records cut off by the end of the program"),
      required("unreadable_bytes", &T::unreadable_bytes, "damaged parts of trace files"),
      optional("outside_waits", &T::outside_waits,
               "waits for disks, clocks and peers that were not recorded"),
      required("unmatched_waits", &T::unknown_waits, "other waits with no known waker"),
      required("inferred_edges", &T::inferred_edges, "waits whose waker is inferred from time"),
      required("exact_edges", &T::exact_edges, "waits whose waker is known"),
      required("notes", &T::notes, "one line each, for people")};
};

template <>
struct Object<report::LeadingFactor> {
  using T = report::LeadingFactor;
  static constexpr auto kFields =
      std::tuple{required("factor", &T::factor),
                 required("contribution", &T::contribution, "the weight of the factor"),
                 optional("share", &T::share, "that the text shows; null: unknown"),
                 optional("marked", &T::marked, "\"look here first\", in the report of then")};
};

template <>
struct Object<report::Iteration> {
  using T = report::Iteration;
  static constexpr auto kFields = std::tuple{
      required("expanded", &T::expanded, "functions first expanded in this iteration"),
      required("sites", &T::sites),
      required("build_s", &T::build_s),
      required("run_s", &T::run_s),
      required("mean_ns", &T::mean_ns),
      required("variance_ns2", &T::variance_ns2),
      optional("mean_ratio", &T::mean_ratio, "to the run without recording; 0: no such run"),
      optional("variance_ratio", &T::variance_ratio,
               "to the run without recording; 0: no such run"),
      optional("selected", &T::selected, "factors accepted after this iteration"),
      optional("set_aside", &T::set_aside, "factors set aside after this iteration"),
      optional("leading", &T::leading, "the first k factors"),
      optional("demoted", &T::demoted, "call sites newly left out of the plan")};
};

template <>
struct Object<report::Demoted> {
  using T = report::Demoted;
  static constexpr const char* kDescription =
      "a call, or a function's own scope, that is left in the body of the caller because measuring "
      "it costs too much";
  static constexpr auto kFields = std::tuple{
      required("function", &T::function, "the callee"),
      required("site", &T::position, "`file:line:column`"),
      required("calls", &T::calls,
               "in the last run that measured it; per interval if there is `heavy_in`"),
      required(
          "cost", &T::cost,
          "what measuring it added: to the time that the program is busy, or to the latency of "
          "the intervals `heavy_in`; a part of 1"),
      required("since", &T::since, "first iteration without it"),
      optional("key", &T::key, "of the callee, as in sites.json"),
      optional("heavy_in", &T::heavy_in,
               "which intervals make too many of these calls each; empty: called often in all, "
               "varies little"),
      optional("within", &T::within,
               "the function around it, if that is called often and not measured any more: `cost` "
               "is then that of the site's presence")};
};

template <>
struct Object<report::Unwrapped> {
  using T = report::Unwrapped;
  static constexpr auto kFields =
      std::tuple{required("reason", &T::reason), required("count", &T::count)};
};

template <>
struct Object<report::Provenance> {
  using T = report::Provenance;
  static constexpr const char* kDescription =
      "where, when and how the recording was made; empty: not known";
  static constexpr auto kFields = std::tuple{
      optional("date", &T::date, "when the workload began, ISO 8601, UTC"),
      optional("host", &T::host, "name of the machine"),
      optional("kernel", &T::kernel, "name, release and machine"),
      optional("processor", &T::processor, "model"),
      optional("processors", &T::processors, "number that are online"),
      optional("compiler", &T::compiler, "first line of its `--version`"),
      optional("version", &T::version, "of the program: `git describe` in its source tree"),
      optional("commit", &T::commit, "of the program"),
      optional("command", &T::command, "the workload"),
      optional("configuration", &T::configuration, "text of vprof.json"),
      optional("vprof", &T::vprof, "version of vprof")};
};

}  // namespace vprof::json
