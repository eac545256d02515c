#include <fmt/format.h>

#include <utility>

#include "json/answer.h"
#include "vprof/analyzer/marks.h"
#include "vprof/analyzer/overhead.h"
#include "vprof/report/json.h"
#include "vprof/support/json.h"
#include "vprof/support/json_schema.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;

constexpr int kSchema = 1;

/// What measuring cost and changed, and what the search did about it.
struct OverheadSection : analyzer::Overhead {
  double added = 0;
  double budget = 0;
  std::vector<Demoted> demoted;
};

/// The answer of `vprof history`.
struct History {
  std::vector<Iteration> iterations;
};

/// report.json as a whole.
struct Document {
  std::string schema_file = "report.schema.json";
  int schema = kSchema;
  analyzer::IntervalSummary interval;
  std::vector<analyzer::KindOfTime> kinds;
  std::vector<analyzer::Factor> factors;
  analyzer::Node tree;
  std::vector<Iteration> iterations;
  OverheadSection overhead;
  analyzer::Losses losses;
  std::vector<Unwrapped> unwrapped;
  int k = analyzer::Profile{}.k;
  double threshold = analyzer::Profile{}.threshold;
  analyzer::Ranking ranking = analyzer::Profile{}.ranking;
  Provenance provenance;
  double marked_share = 0;
  bool more_to_tell = false;
};

}  // namespace
}  // namespace vprof::report

namespace vprof::json {

using report::Document;
using report::History;
using report::OverheadSection;

void Object<analyzer::TraceContext>::written(const T& trace, Json& to) {
  to["trace_id"] = trace.trace_id();
  to["span_id"] = trace.span_id();
}

void Object<analyzer::TraceContext>::check(T& trace, const Json& from) {
  const std::string id = from.value("trace_id", "");
  const std::string span = from.value("span_id", "");
  const auto read =
      analyzer::parse_trace_context(span.empty() ? id : fmt::format("00-{}-{}-00", id, span));
  if (!read) {
    throw ReadError("not the ids of a trace and a span");
  }
  trace = *read;
}

void Object<analyzer::TraceContext>::described(Json& schema) {
  schema["properties"]["trace_id"] = {{"type", "string"}, {"pattern", "^[0-9a-f]{32}$"}};
  schema["properties"]["span_id"] = {{"type", "string"},
                                     {"pattern", "^([0-9a-f]{16})?$"},
                                     {"description", "of the span around it; empty: not known"}};
  schema["required"] = {"trace_id", "span_id"};
}

void Object<analyzer::Factor>::check(T& factor, const Json& from) {
  if (factor.functions.empty()) {
    throw ReadError("a factor without functions");
  }
  if (!from.contains("weight")) {  // earlier versions ranked by the contribution
    factor.weight = factor.contribution;
    factor.share_ci95 = {factor.share, factor.share};
    for (analyzer::Instance& instance : factor.instances) {
      instance.share = instance.contribution;
    }
  }
}

void Object<analyzer::Node>::written(const T& node, Json& to) {
  for (size_t i = 0; i < node.covariances.size(); ++i) {
    const analyzer::Covariance& pair = node.covariances[i];
    Json& entry = to["covariances"][i];
    entry["children"] = {pair.a, pair.b};
    entry["functions"] = {node.children[pair.a].function, node.children[pair.b].function};
  }
}

void Object<analyzer::Node>::check(T& node, const Json& from) {
  std::vector<analyzer::Covariance> known;
  for (size_t i = 0; i < node.covariances.size(); ++i) {
    const Json& entry = from["covariances"][i];
    if (!entry.contains("children")) {
      continue;  // names alone, as early reports had them, do not say which sibling is meant
    }
    analyzer::Covariance& pair = known.emplace_back(node.covariances[i]);
    pair.a = entry["children"].at(0).get<uint32_t>();
    pair.b = entry["children"].at(1).get<uint32_t>();
    if (pair.a >= node.children.size() || pair.b >= node.children.size()) {
      throw ReadError("a covariance names a child that does not exist");
    }
  }
  node.covariances = std::move(known);
}

namespace {

Json pair_schema(const Json& items, const char* description) {
  return {{"type", "array"},
          {"items", items},
          {"minItems", 2},
          {"maxItems", 2},
          {"description", description}};
}

}  // namespace

void Object<analyzer::Node>::described(Json& schema) {
  Json& fields = schema["properties"]["covariances"]["items"]["properties"];
  fields["children"] = pair_schema({{"type", "integer"}, {"minimum", 0}}, "indices of the two");
  fields["functions"] = pair_schema({{"type", "string"}}, "names of the two");
}

template <>
struct Object<analyzer::GroupCost> {
  using T = analyzer::GroupCost;
  static constexpr const char* kDescription = "what was recorded for a group of intervals";
  static constexpr auto kFields = std::tuple{
      required("count", &T::count, "intervals"),
      required("latency_ns", &T::latency_ns, "sum of their latencies without preemption"),
      required("records", &T::records, "made by their own threads; a wait counts as 25"),
      required("deviation", &T::deviation,
               "part of the sum of squared deviations from the mean that is theirs"),
      optional("label", &T::label, "of all of them"),
      optional("from_ns", &T::from_ns, "of the slow ones: the least latency; 0: any")};
};

template <>
struct Object<OverheadSection> {
  using T = OverheadSection;
  static constexpr const char* kDescription =
      "cost of measuring; ratios compare the run with one that recorded only intervals";
  static constexpr auto kFields = std::tuple{
      required("baseline_mean_ns", &T::baseline_mean_ns, "0: there was no run to compare with"),
      required("mean_ratio", &T::mean_ratio),
      optional("mean_ratio_ci95", &T::mean_ratio_ci95,
               "95 % confidence interval; [0, 0]: too few intervals for one"),
      optional("median_ratio", &T::median_ratio),
      optional("variance_ratio", &T::variance_ratio),
      optional("processor_ratio", &T::processor_ratio,
               "processor time per interval, of program and helper; 0: unknown"),
      optional("added", &T::added,
               "what recording adds to the processor time of the program, a part of 1; 0: unknown"),
      optional("recorded_part", &T::recorded_part,
               "part of the time in which anything was recorded, of which `added` is; less than 1: "
               "a live search has paused"),
      optional("budget", &T::budget,
               "part that recording may add to the time that the program is busy; 0: none set"),
      optional("demoted", &T::demoted),
      required("records", &T::records),
      required("dropped", &T::dropped),
      optional("waits", &T::waits, "and preemptions, among the records"),
      optional("chunks", &T::chunks, "buffers filled"),
      optional("stalls", &T::stalls, "times that a thread had to prepare its own buffer"),
      optional("threads", &T::threads, "that made records; 0: unknown, for merged recordings"),
      optional("run_ns", &T::run_ns,
               "from the first begin of an interval to the last end; 0: unknown, for merged ones"),
      optional("working_threads", &T::working_threads, "that worked for intervals"),
      optional("working_ns", &T::working_ns, "how long these threads worked for intervals"),
      optional("present_ns", &T::present_ns,
               "how long they could have: each from when it first did to when it last did"),
      optional("record_ns", &T::record_ns, "calibrated cost of one record"),
      optional(
          "cost_factor", &T::cost_factor,
          "what recording really costs over that, if a live search has measured it against its "
          "pauses"),
      optional("cost_factor_ci95", &T::cost_factor_ci95, "95 % interval; [0, 0]: not measured"),
      optional("processor_ns", &T::processor_ns,
               "processor time of program and helper since the recording began; 0: unknown"),
      optional("helper_ns", &T::helper_ns,
               "processor time of the helper, and of starting the recording"),
      optional("calls_ns", &T::calls_ns,
               "the runtime's own system calls, as if each were the cheapest one; 0: unknown"),
      optional("timed_calls", &T::timed_calls, "calls that the runtime intercepted and timed"),
      optional("thread", &T::thread, "the thread that made most records"),
      optional("thread_records", &T::thread_records, "between its first buffer and its last"),
      optional("thread_ns", &T::thread_ns, "its processor time meanwhile"),
      optional("thread_passed_ns", &T::thread_passed_ns, "the time that passed meanwhile"),
      optional("groups", &T::groups, "all intervals, the slow ones, and those with one label")};
};

template <>
struct Object<History> {
  using T = History;
  static constexpr const char* kDescription = "Times are in ns unless a name says otherwise.";
  static constexpr auto kFields = std::tuple{required("iterations", &T::iterations)};
};

template <>
struct Object<Document> {
  using T = Document;
  static constexpr const char* kDescription =
      "Times are in ns, contributions and shares are parts of 1.";
  static constexpr auto kFields = std::tuple{
      optional("$schema", &T::schema_file, "the JSON Schema of this document"),
      required("schema", &T::schema, "version: 1"),
      required("interval", &T::interval, "the latency"),
      optional("kinds", &T::kinds, "kinds of time, by falling share"),
      required("factors", &T::factors, "ranked; those that contribute 0.01 or more"),
      required("tree", &T::tree, "the variance tree; its root is the interval"),
      required("iterations", &T::iterations, "of the search"),
      required("overhead", &T::overhead),
      optional("losses", &T::losses),
      optional("unwrapped", &T::unwrapped, "calls that could not be measured, by reason"),
      optional("k", &T::k, "number of factors asked for"),
      optional("threshold", &T::threshold, "least weight asked for"),
      optional("ranking", &T::ranking,
               "what factors are ranked by: what goes with the latency, or what varies"),
      optional("provenance", &T::provenance),
      optional("marked_share", &T::marked_share,
               "share of the marked factors together; what is within another one counts once"),
      optional("more_to_tell", &T::more_to_tell,
               "whether further factors would be marked if `k` were larger")};
};

}  // namespace vprof::json

namespace vprof::report {
namespace {

Document document_of(const analyzer::Profile& profile, const ReportContext& context) {
  Document document;
  document.interval = profile.interval;
  document.kinds = profile.kinds;
  document.factors = profile.factors;
  document.tree = profile.tree;
  document.iterations = context.iterations;
  static_cast<analyzer::Overhead&>(document.overhead) = profile.overhead;
  document.overhead.added = analyzer::program_cost(profile.overhead);
  document.overhead.budget = context.overhead_budget;
  document.overhead.demoted = context.demoted;
  document.losses = profile.losses;
  document.unwrapped = context.unwrapped;
  document.k = profile.k;
  document.threshold = profile.threshold;
  document.ranking = profile.ranking;
  document.provenance = context.provenance;
  document.marked_share = profile.marked_share;
  document.more_to_tell = profile.more_to_tell;
  return document;
}

std::pair<analyzer::Profile, ReportContext> profile_and_context(Document document) {
  std::pair<analyzer::Profile, ReportContext> result;
  auto& [profile, context] = result;
  profile.interval = std::move(document.interval);
  profile.kinds = std::move(document.kinds);
  profile.factors = std::move(document.factors);
  profile.tree = std::move(document.tree);
  profile.overhead = document.overhead;
  profile.losses = std::move(document.losses);
  profile.k = document.k;
  profile.threshold = document.threshold;
  profile.ranking = document.ranking;
  profile.marked_share = document.marked_share;
  profile.more_to_tell = document.more_to_tell;
  context.iterations = std::move(document.iterations);
  context.unwrapped = std::move(document.unwrapped);
  context.demoted = std::move(document.overhead.demoted);
  context.overhead_budget = document.overhead.budget;
  context.provenance = std::move(document.provenance);
  return result;
}

}  // namespace

nlohmann::json history_answer(const std::vector<Iteration>& iterations) {
  return answer("history", History{iterations});
}

nlohmann::json json(const analyzer::Profile& profile, const ReportContext& context) {
  return json::write(document_of(profile, context));
}

std::string json_text(const analyzer::Profile& profile, const ReportContext& context) {
  Json document = json(profile, context);
  const std::string tree = vprof::json_text(document["tree"], -1);
  document.erase("tree");
  std::string text = vprof::json_text(document);
  text.resize(text.size() - 2);  // "\n}"
  return text + ",\n \"tree\": " + tree + "\n}";
}

Result<std::pair<analyzer::Profile, ReportContext>> from_json(const nlohmann::json& document) {
  constexpr const char* kNotOurs = "not a report of this program";
  if (document.is_object() && document.contains("schema") && document["schema"] != kSchema) {
    return fail("{}: schema {}, this program reads {}", kNotOurs,
                vprof::json_text(document["schema"], -1), kSchema);
  }
  auto read = json::read<Document>(document);
  if (!read) {
    return fail("{}: {}", kNotOurs, read.error().message);
  }
  if (!document.contains("ranking")) {  // earlier versions had one ranking
    read->ranking = analyzer::Ranking::kVariance;
  }
  auto result = profile_and_context(*std::move(read));
  if (!document.contains("marked_share")) {  // earlier versions marked nothing in the file
    analyzer::mark_factors(result.first);
  }
  return result;
}

nlohmann::json history_schema() {
  return answer_schema<History>("history", "vprof history --json");
}

nlohmann::json report_schema() {
  Json schema = json::schema<Document>();
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["$id"] = "report.schema.json";
  schema["title"] = "report.json of VProfiler";
  return schema;
}

}  // namespace vprof::report
