// The data of the page: report.json without what would make it large, and what plots are made of.
#include <algorithm>

#include "html/page_factors.h"
#include "html/page_intervals.h"
#include "html/page_nodes.h"
#include "html/page_sources.h"
#include "html/page_tree.h"
#include "text/factors/factor_text.h"
#include "text/overhead_text.h"
#include "vprof/report/html.h"
#include "vprof/report/json.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;

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

Json timelines_of(const PageTimelines& timelines) {
  Json all = Json::array();
  for (const auto& [order, timeline] : timelines.all()) {
    all.push_back(timeline);
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
  Json data = {{"title", page.title},
               {"interval", json::write(page.profile.interval)},
               {"kinds", json::write(page.profile.kinds)},
               {"k", page.profile.k},
               {"threshold", page.profile.threshold},
               {"explained", explained(page.profile)},
               {"ranking", word_for(page.profile.ranking)},
               {"specificity", analyzer::rule_of(page.specificity).name},
               {"specificity_rules", specificity_rules()},
               {"graph_height", graph_height(details, page.profile.factors)},
               {"factors", page_factors(json::write(page.profile.factors), page.profile.factors,
                                        tree, columns)},
               {"nodes", page_nodes(tree)},
               {"places", page_places(page.timelines, tree)},
               {"iterations", json::write(page.context.iterations)},
               {"overhead", overhead_lines(page.profile, page.context)},
               {"losses", json::write(page.profile.losses)},
               {"unwrapped", json::write(page.context.unwrapped)},
               {"provenance", json::write(page.context.provenance)},
               {"sources", page_sources(page.sources)},
               {"sources_left_out", page.sources_left_out},
               {"timelines", timelines_of(page.timelines)},
               {"notes", notes}};
  add_plots(details, tree, columns, data);
  return data;
}

}  // namespace vprof::report
