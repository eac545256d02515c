// The data of the page: report.json with the tree in pre-order, without what would make it large.
#include <algorithm>
#include <cmath>

#include "html/html_timeline.h"
#include "html/page_intervals.h"
#include "html/page_tree.h"
#include "text/overhead_text.h"
#include "vprof/report/html.h"
#include "vprof/report/json.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;
using analyzer::Node;

constexpr size_t kMostPairs = 24;       // of one node
constexpr double kLeastPair = 0.0005;   // of the variance
constexpr size_t kMostInstances = 200;  // of one factor

/// Name and power of each ranking rule.
Json specificity_rules() {
  Json rules = Json::array();
  for (const analyzer::SpecificityRule& rule : analyzer::kSpecificityRules) {
    rules.push_back({rule.name, rule.power});
  }
  return rules;
}

/// Null if there are none, or if they are of another profile.
const analyzer::Details* matching_details(const HtmlReport& page, const PageTree& tree) {
  const bool match = page.details && page.details->nodes.size() == tree.entries().size() &&
                     page.details->count == page.profile.interval.count;
  return match ? &*page.details : nullptr;
}

int graph_height(const analyzer::Details* details, const std::vector<analyzer::Factor>& factors) {
  if (details != nullptr) {
    return details->graph_height;
  }
  int height = 0;
  for (const analyzer::Factor& factor : factors) {
    height = std::max(height, factor.height + 1);
  }
  return height;
}

Json factors_of(Json factors, const std::vector<analyzer::Factor>& from, const PageTree& tree,
                const TimeColumns& columns) {
  for (size_t f = 0; f < factors.size(); ++f) {
    Json& factor = factors[f];
    factor["columns"] = columns.of_factor[f];
    factor["nodes"] = tree.nodes_of(from[f], 0);
    auto& instances = factor["instances"].get_ref<Json::array_t&>();
    const size_t kept = std::min(instances.size(), kMostInstances);
    factor["more_instances"] = instances.size() - kept;
    instances.resize(kept);
    factor.erase("keys");
  }
  return factors;
}

/// The largest covariances of a node's children, which are given by their numbers.
std::vector<analyzer::Covariance> largest_pairs(const Node& node) {
  std::vector<analyzer::Covariance> pairs;
  std::copy_if(node.covariances.begin(), node.covariances.end(), std::back_inserter(pairs),
               [](const auto& pair) { return std::abs(pair.contribution) >= kLeastPair; });
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return std::abs(a.contribution) > std::abs(b.contribution);
  });
  pairs.resize(std::min(pairs.size(), kMostPairs));
  return pairs;
}

Json nodes_of(const PageTree& tree) {
  const std::vector<std::vector<uint32_t>> children = tree.children();
  Json all = Json::array();
  for (uint32_t i = 0; i < tree.entries().size(); ++i) {
    const Node& node = *tree.entries()[i].node;
    Json pairs = Json::array();
    for (const analyzer::Covariance& pair : largest_pairs(node)) {
      pairs.push_back({children[i][pair.a], children[i][pair.b], pair.contribution});
    }
    const size_t more_pairs = node.covariances.size() - pairs.size();
    all.push_back({{"name", node.function},
                   {"kind", word_for(node.kind)},
                   {"parent", tree.entries()[i].parent},
                   {"site", node.location},
                   {"definition", tree.definition(i)},
                   {"mean", node.mean_ns},
                   {"variance", node.variance_ns2},
                   {"contribution", node.contribution},
                   {"share", node.share},
                   {"tail", node.tail_share ? Json(*node.tail_share) : Json()},
                   {"work", node.work_share},
                   {"by_label", node.label_share},
                   {"count", node.count},
                   {"pairs", std::move(pairs)},
                   {"more_pairs", more_pairs}});
  }
  return all;
}

Json sources_of(const std::vector<SourceText>& sources) {
  Json all = Json::array();
  for (const SourceText& source : sources) {
    all.push_back({{"title", source.title},
                   {"file", source.file},
                   {"first", source.first},
                   {"line", source.line},
                   {"lines", source.lines},
                   {"more", source.more},
                   {"factors", source.factors}});
  }
  return all;
}

Json timelines_of(const std::vector<SelectedTimeline>& timelines) {
  Json all = Json::array();
  for (const SelectedTimeline& one : timelines) {
    all.push_back(to_json(one));
  }
  return all;
}

}  // namespace

nlohmann::json html_data(const HtmlReport& page) {
  PageTree tree(page.profile.tree);
  const analyzer::Details* details = matching_details(page, tree);
  std::vector<std::string> notes = page.notes;
  if (details != nullptr) {
    tree.set_facts(details->nodes);
  } else if (page.details) {
    notes.emplace_back(
        "The profile belongs to another report, so distributions and single intervals are not "
        "shown.");
  }
  const std::vector<std::string>& losses = page.profile.losses.notes;
  notes.insert(notes.end(), losses.begin(), losses.end());

  const TimeColumns columns = choose_columns(page.profile.factors, tree);
  Json report = json(page.profile, page.context);
  Json data = {
      {"title", page.title},
      {"interval", std::move(report["interval"])},
      {"k", page.profile.k},
      {"threshold", page.profile.threshold},
      {"ranking", word_for(page.profile.ranking)},
      {"specificity", analyzer::rule_of(page.specificity).name},
      {"specificity_rules", specificity_rules()},
      {"graph_height", graph_height(details, page.profile.factors)},
      {"factors", factors_of(std::move(report["factors"]), page.profile.factors, tree, columns)},
      {"nodes", nodes_of(tree)},
      {"iterations", std::move(report["iterations"])},
      {"overhead", overhead_lines(page.profile, page.context)},
      {"losses", std::move(report["losses"])},
      {"unwrapped", std::move(report["unwrapped"])},
      {"sources", sources_of(page.sources)},
      {"timelines", timelines_of(page.timelines)},
      {"notes", notes}};
  add_plots(details, tree, columns, data);
  return data;
}

}  // namespace vprof::report
