// report.json back to a Profile. Fields of the schema's first version must be there; later ones
// have defaults.
#include <stdexcept>
#include <utility>

#include "json/names.h"
#include "vprof/report/report.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest =
    10'000;  // a tree deeper than any analysis makes would only exhaust the stack

template <class T>
void get(const Json& object, const char* field, T& into) {
  into = object.at(field).get<T>();
}

template <class T>
void get_if(const Json& object, const char* field, T& into) {
  if (object.contains(field)) {
    get(object, field, into);
  }
}

template <class T>
T known(std::optional<T> value, const std::string& name) {
  if (!value) {
    throw std::runtime_error("unknown word '" + name + "'");
  }
  return *value;
}

analyzer::IntervalSummary read_interval(const Json& from) {
  analyzer::IntervalSummary to;
  get(from, "name", to.name);
  get(from, "count", to.count);
  get(from, "incomplete", to.incomplete);
  get(from, "mean_ns", to.mean_ns);
  get(from, "variance_ns2", to.variance_ns2);
  get(from, "stddev_ns", to.stddev_ns);
  get(from, "p50_ns", to.p50_ns);
  get(from, "p95_ns", to.p95_ns);
  get(from, "p99_ns", to.p99_ns);
  get(from, "p999_ns", to.p999_ns);
  get(from, "max_ns", to.max_ns);
  get(from, "between_labels", to.between_labels);
  if (from.contains("work")) {
    const Json& work = from.at("work");
    get(work, "declared", to.work.declared);
    get(work, "mean", to.work.mean);
    get(work, "ns_per_unit", to.work.ns_per_unit);
    get(work, "explained", to.work.explained);
  }
  get_if(from, "mean_ci95", to.mean_ci95);
  get_if(from, "variance_ci95", to.variance_ci95);
  get_if(from, "p99_ci95", to.p99_ci95);
  for (const Json& entry : from.at("labels")) {
    analyzer::LabelSummary& label = to.labels.emplace_back();
    get(entry, "label", label.label);
    get(entry, "count", label.count);
    get(entry, "mean_ns", label.mean_ns);
    get(entry, "variance_ns2", label.variance_ns2);
  }
  return to;
}

std::vector<analyzer::Exemplar> read_exemplars(const Json& from, const char* field) {
  std::vector<analyzer::Exemplar> all;
  if (!from.contains(field)) {
    return all;
  }
  for (const Json& entry : from.at(field)) {
    analyzer::Exemplar& one = all.emplace_back();
    get(entry, "id", one.id);
    get(entry, "ns", one.ns);
    get(entry, "latency_ns", one.latency_ns);
  }
  return all;
}

analyzer::Factor read_factor(const Json& from) {
  analyzer::Factor to;
  get(from, "rank", to.rank);
  get(from, "functions", to.functions);
  if (to.functions.empty()) {
    throw std::runtime_error("a factor without functions");
  }
  get_if(from, "keys", to.keys);
  get_if(from, "definition", to.definition);
  get(from, "contribution", to.contribution);
  get(from, "ci95", to.ci95);
  get_if(from, "variance_ns2", to.variance_ns2);
  get_if(from, "error_ns2", to.error_ns2);
  to.typical = read_exemplars(from, "typical");
  to.worst = read_exemplars(from, "worst");
  get(from, "share", to.share);
  get(from, "tail_share", to.tail_share);
  get_if(from, "work_share", to.work_share);
  get_if(from, "label_share", to.label_share);
  get(from, "height", to.height);
  get(from, "specificity", to.specificity);
  get(from, "score", to.score);
  const auto kind = from.at("kind").get<std::string>();
  to.kind = known(factor_kind(kind), kind);
  const auto status = from.at("status").get<std::string>();
  to.status = known(factor_status(status), status);
  for (const Json& entry : from.at("instances")) {
    analyzer::Instance& instance = to.instances.emplace_back();
    get(entry, "path", instance.path);
    get(entry, "site", instance.site);
    get(entry, "contribution", instance.contribution);
    get_if(entry, "dominated", instance.dominated);
  }
  return to;
}

analyzer::Node read_node(const Json& from, int depth) {
  if (depth > kDeepest) {
    throw std::runtime_error("tree too deep");
  }
  analyzer::Node to;
  get(from, "function", to.function);
  const auto kind = from.at("kind").get<std::string>();
  to.kind = known(node_kind(kind), kind);
  get_if(from, "key", to.function_key);
  get_if(from, "site", to.site);
  get(from, "mean_ns", to.mean_ns);
  get(from, "variance_ns2", to.variance_ns2);
  get(from, "contribution", to.contribution);
  get(from, "share", to.share);
  get_if(from, "tail_share", to.tail_share);
  get_if(from, "work_share", to.work_share);
  get_if(from, "label_share", to.label_share);
  get_if(from, "count", to.count);
  for (const Json& child : from.at("children")) {
    to.children.push_back(read_node(child, depth + 1));
  }
  for (const Json& entry : from.at("covariances")) {
    analyzer::Covariance pair;
    if (!entry.contains("children")) {
      continue;  // names alone do not say which sibling is meant
    }
    pair.a = entry.at("children").at(0).get<uint32_t>();
    pair.b = entry.at("children").at(1).get<uint32_t>();
    if (pair.a >= to.children.size() || pair.b >= to.children.size()) {
      throw std::runtime_error("a covariance of children that are not there");
    }
    get(entry, "covariance_ns2", pair.covariance_ns2);
    get(entry, "contribution", pair.contribution);
    to.covariances.push_back(pair);
  }
  return to;
}

void read_losses(const Json& from, analyzer::Losses& to) {
  get(from, "dropped", to.dropped);
  get(from, "torn", to.torn);
  get(from, "unreadable_bytes", to.unreadable_bytes);
  get_if(from, "outside_waits", to.outside_waits);
  get(from, "unmatched_waits", to.unmatched_waits);
  get(from, "inferred_edges", to.inferred_edges);
  get(from, "exact_edges", to.exact_edges);
  get(from, "notes", to.notes);
}

void read_overhead(const Json& from, analyzer::Overhead& to, Story& story) {
  get_if(from, "mean_ratio_ci95", to.mean_ratio_ci95);
  get_if(from, "median_ratio", to.median_ratio);
  get_if(from, "variance_ratio", to.variance_ratio);
  get_if(from, "budget", story.overhead_budget);
  for (const Json& entry : from.contains("demoted") ? from["demoted"] : Json::array()) {
    Demoted& one = story.demoted.emplace_back();
    get(entry, "function", one.function);
    get(entry, "site", one.site);
    get(entry, "calls", one.calls);
    get(entry, "cost", one.cost);
    get(entry, "since", one.since);
  }
  get(from, "baseline_mean_ns", to.baseline_mean_ns);
  get(from, "mean_ratio", to.mean_ratio);
  get(from, "records", to.records);
  get(from, "dropped", to.dropped);
  get_if(from, "chunks", to.chunks);
  get_if(from, "stalls", to.stalls);
  get_if(from, "threads", to.threads);
  get_if(from, "record_ns", to.record_ns);
}

Iteration read_iteration(const Json& from) {
  Iteration to;
  get(from, "expanded", to.expanded);
  get(from, "sites", to.sites);
  get(from, "build_s", to.build_s);
  get(from, "run_s", to.run_s);
  get(from, "mean_ns", to.mean_ns);
  get(from, "variance_ns2", to.variance_ns2);
  get_if(from, "mean_ratio", to.mean_ratio);
  get_if(from, "variance_ratio", to.variance_ratio);
  get_if(from, "selected", to.selected);
  get_if(from, "set_aside", to.set_aside);
  get_if(from, "demoted", to.demoted);
  for (const Json& entry : from.contains("leading") ? from["leading"] : Json::array()) {
    Leading& one = to.leading.emplace_back();
    get(entry, "factor", one.factor);
    get(entry, "contribution", one.contribution);
  }
  return to;
}

}  // namespace

Result<std::pair<analyzer::Profile, Story>> from_json(const nlohmann::json& document) {
  try {
    const int schema = document.at("schema").get<int>();
    if (schema != 1) {
      throw std::runtime_error("schema " + std::to_string(schema) + ", this program reads 1");
    }
    std::pair<analyzer::Profile, Story> result;
    auto& [profile, story] = result;
    profile.interval = read_interval(document.at("interval"));
    for (const Json& entry : document.at("factors")) {
      profile.factors.push_back(read_factor(entry));
    }
    profile.tree = read_node(document.at("tree"), 0);
    for (const Json& entry : document.at("iterations")) {
      story.iterations.push_back(read_iteration(entry));
    }
    read_overhead(document.at("overhead"), profile.overhead, story);
    if (document.contains("losses")) {
      read_losses(document["losses"], profile.losses);
    }
    for (const Json& entry :
         document.contains("unwrapped") ? document["unwrapped"] : Json::array()) {
      Unwrapped& unwrapped = story.unwrapped.emplace_back();
      get(entry, "reason", unwrapped.reason);
      get(entry, "count", unwrapped.count);
    }
    get_if(document, "k", profile.k);
    get_if(document, "threshold", profile.threshold);
    return result;
  } catch (const std::exception& error) {
    return fail("{}", std::string("not a report of this program: ") + error.what());
  }
}

}  // namespace vprof::report
