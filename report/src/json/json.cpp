#include <utility>

#include "json/names.h"
#include "vprof/report/report.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;

Json to_json(const analyzer::IntervalSummary& interval) {
  Json labels = Json::array();
  for (const analyzer::LabelSummary& label : interval.labels) {
    labels.push_back({{"label", label.label},
                      {"count", label.count},
                      {"mean_ns", label.mean_ns},
                      {"variance_ns2", label.variance_ns2}});
  }
  return {{"name", interval.name},
          {"count", interval.count},
          {"incomplete", interval.incomplete},
          {"mean_ns", interval.mean_ns},
          {"variance_ns2", interval.variance_ns2},
          {"stddev_ns", interval.stddev_ns},
          {"p50_ns", interval.p50_ns},
          {"p95_ns", interval.p95_ns},
          {"p99_ns", interval.p99_ns},
          {"p999_ns", interval.p999_ns},
          {"max_ns", interval.max_ns},
          {"mean_ci95", interval.mean_ci95},
          {"variance_ci95", interval.variance_ci95},
          {"p99_ci95", interval.p99_ci95},
          {"labels", std::move(labels)},
          {"between_labels", interval.between_labels},
          {"work",
           {{"declared", interval.work.declared},
            {"mean", interval.work.mean},
            {"ns_per_unit", interval.work.ns_per_unit},
            {"explained", interval.work.explained}}}};
}

Json to_json(const std::vector<analyzer::Exemplar>& exemplars) {
  Json all = Json::array();
  for (const analyzer::Exemplar& one : exemplars) {
    all.push_back({{"id", one.id}, {"ns", one.ns}, {"latency_ns", one.latency_ns}});
  }
  return all;
}

Json to_json(const analyzer::Factor& factor) {
  Json instances = Json::array();
  for (const analyzer::Instance& instance : factor.instances) {
    instances.push_back({{"path", instance.path},
                         {"site", instance.site},
                         {"contribution", instance.contribution},
                         {"dominated", instance.dominated}});
  }
  return {{"rank", factor.rank},
          {"kind", name_of(factor.kind)},
          {"functions", factor.functions},
          {"keys", factor.keys},
          {"definition", factor.definition},
          {"contribution", factor.contribution},
          {"ci95", factor.ci95},
          {"variance_ns2", factor.variance_ns2},
          {"error_ns2", factor.error_ns2},
          {"share", factor.share},
          {"tail_share", factor.tail_share},
          {"work_share", factor.work_share},
          {"label_share", factor.label_share},
          {"height", factor.height},
          {"specificity", factor.specificity},
          {"score", factor.score},
          {"status", name_of(factor.status)},
          {"instances", std::move(instances)},
          {"typical", to_json(factor.typical)},
          {"worst", to_json(factor.worst)}};
}

/// Depth is bounded: no function stands twice on a path but across a wait, and wait chains are
/// bounded by the analyzer.
Json to_json(const analyzer::Node& node) {
  Json covariances = Json::array();
  for (const analyzer::Covariance& pair : node.covariances) {
    covariances.push_back(
        {{"functions", {node.children[pair.a].function, node.children[pair.b].function}},
         {"children", {pair.a, pair.b}},
         {"covariance_ns2", pair.covariance_ns2},
         {"contribution", pair.contribution}});
  }
  Json children = Json::array();
  for (const analyzer::Node& child : node.children) {
    children.push_back(to_json(child));
  }
  return {{"function", node.function},
          {"key", node.function_key},
          {"kind", name_of(node.kind)},
          {"site", node.site},
          {"mean_ns", node.mean_ns},
          {"variance_ns2", node.variance_ns2},
          {"contribution", node.contribution},
          {"share", node.share},
          {"tail_share", node.tail_share},
          {"work_share", node.work_share},
          {"label_share", node.label_share},
          {"count", node.count},
          {"covariances", std::move(covariances)},
          {"children", std::move(children)}};
}

Json to_json(const analyzer::Losses& losses) {
  return {{"dropped", losses.dropped},
          {"torn", losses.torn},
          {"unreadable_bytes", losses.unreadable_bytes},
          {"outside_waits", losses.outside_waits},
          {"unmatched_waits", losses.unmatched_waits},
          {"inferred_edges", losses.inferred_edges},
          {"exact_edges", losses.exact_edges},
          {"notes", losses.notes}};
}

Json to_json(const Iteration& iteration) {
  Json leading = Json::array();
  for (const Leading& one : iteration.leading) {
    leading.push_back({{"factor", one.factor}, {"contribution", one.contribution}});
  }
  return {{"expanded", iteration.expanded},     {"sites", iteration.sites},
          {"build_s", iteration.build_s},       {"run_s", iteration.run_s},
          {"mean_ns", iteration.mean_ns},       {"variance_ns2", iteration.variance_ns2},
          {"mean_ratio", iteration.mean_ratio}, {"variance_ratio", iteration.variance_ratio},
          {"selected", iteration.selected},     {"set_aside", iteration.set_aside},
          {"leading", std::move(leading)},      {"demoted", iteration.demoted}};
}

Json to_json(const Demoted& one) {
  return {{"function", one.function},
          {"site", one.site},
          {"calls", one.calls},
          {"cost", one.cost},
          {"since", one.since}};
}

Json to_json(const analyzer::Overhead& overhead, const Story& story) {
  Json demoted = Json::array();
  for (const Demoted& one : story.demoted) {
    demoted.push_back(to_json(one));
  }
  return {{"baseline_mean_ns", overhead.baseline_mean_ns},
          {"mean_ratio", overhead.mean_ratio},
          {"mean_ratio_ci95", overhead.mean_ratio_ci95},
          {"median_ratio", overhead.median_ratio},
          {"variance_ratio", overhead.variance_ratio},
          {"budget", story.overhead_budget},
          {"demoted", std::move(demoted)},
          {"records", overhead.records},
          {"dropped", overhead.dropped},
          {"chunks", overhead.chunks},
          {"stalls", overhead.stalls},
          {"threads", overhead.threads},
          {"record_ns", overhead.record_ns}};
}

}  // namespace

nlohmann::json history_json(const std::vector<Iteration>& iterations) {
  Json all = Json::array();
  for (const Iteration& iteration : iterations) {
    all.push_back(to_json(iteration));
  }
  return all;
}

nlohmann::json json(const analyzer::Profile& profile, const Story& story) {
  Json factors = Json::array();
  for (const analyzer::Factor& factor : profile.factors) {
    factors.push_back(to_json(factor));
  }
  Json unwrapped = Json::array();
  for (const Unwrapped& entry : story.unwrapped) {
    unwrapped.push_back({{"reason", entry.reason}, {"count", entry.count}});
  }
  return {{"schema", 1},
          {"interval", to_json(profile.interval)},
          {"factors", std::move(factors)},
          {"tree", to_json(profile.tree)},
          {"iterations", history_json(story.iterations)},
          {"overhead", to_json(profile.overhead, story)},
          {"losses", to_json(profile.losses)},
          {"unwrapped", std::move(unwrapped)},
          {"k", profile.k},
          {"threshold", profile.threshold}};
}

std::string readable(const nlohmann::json& document) {
  return document.dump(1, ' ', false, Json::error_handler_t::replace);
}

std::string json_text(const analyzer::Profile& profile, const Story& story) {
  Json document = json(profile, story);
  const std::string tree = document["tree"].dump(-1, ' ', false, Json::error_handler_t::replace);
  document.erase("tree");
  std::string text = readable(document);
  text.resize(text.size() - 2);  // "\n}"
  return text + ",\n \"tree\": " + tree + "\n}";
}

}  // namespace vprof::report
