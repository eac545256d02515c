#include "html/page_factors.h"

#include <algorithm>

#include "html/page_numbers.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;
using analyzer::Factor;
using analyzer::Instance;

constexpr size_t kMostInstances = 24;

constexpr const char* kKept[] = {"rank",           "kind",          "functions",   "definition",
                                 "contribution",   "ci95",          "share",       "share_ci95",
                                 "significant",    "weight",        "tail_share",  "work_share",
                                 "label_share",    "height",        "specificity", "score",
                                 "variance_score", "variance_rank", "marked",      "status"};

/// Ids as text: JavaScript's numbers do not hold 64 bits.
std::string id_text(const Json& id) {
  return id.is_string() ? id.get<std::string>() : std::to_string(id.get<uint64_t>());
}

/// [id, key, time of the factor, latency]; an empty key is none.
Json exemplars_of(const Json& written) {
  Json all = Json::array();
  for (const Json& one : written) {
    const std::string key = one.contains("key") ? id_text(one["key"]) : "";
    all.push_back({id_text(one["id"]), key == "0" ? "" : key, short_number(one["ns"], 1),
                   short_number(one["latency_ns"], 1)});
  }
  return all;
}

/// The nodes of a factor by what report.json says about an instance: the path, and the call site.
class InstanceNodes {
 public:
  InstanceNodes(const Factor& factor, const PageTree& tree)
      : parent_(factor.kind == analyzer::FactorKind::kCovariance) {
    for (const uint32_t node : tree.nodes_of(factor, 0)) {
      const uint32_t end = parent_ ? tree.entries()[node].parent : node;
      nodes_.emplace(std::pair(tree.path(end), tree.entries()[node].node->location), node);
    }
  }

  /// Of a covariance: the node of its first function. Null if there is none, or more than one.
  const uint32_t* find(const Instance& instance) const {
    const auto [first, last] = nodes_.equal_range({instance.path, instance.location});
    return std::distance(first, last) == 1 ? &first->second : nullptr;
  }

 private:
  bool parent_;  // a covariance is at the common parent
  std::multimap<std::pair<std::vector<std::string>, std::string>, uint32_t> nodes_;
};

Json instances_of(const Factor& factor, const PageTree& tree) {
  const InstanceNodes nodes(factor, tree);
  Json all = Json::array();
  for (size_t i = 0; i < std::min(factor.instances.size(), kMostInstances); ++i) {
    const Instance& instance = factor.instances[i];
    Json& one = all.emplace_back(Json{{"contribution", short_number(instance.contribution, 1e-6)},
                                      {"share", short_number(instance.share, 1e-6)}});
    if (const uint32_t* const node = nodes.find(instance); node != nullptr) {
      one["node"] = *node;
    } else {
      one["path"] = instance.path;
      one["site"] = instance.location.empty() ? instance.call : instance.location;
    }
    if (instance.dominated) {
      one["dominated"] = true;
    }
    if (instance.nested) {
      one["nested"] = true;
    }
  }
  return all;
}

}  // namespace

Json page_factors(const Json& written, const std::vector<Factor>& factors, const PageTree& tree,
                  const TimeColumns& columns) {
  Json all = Json::array();
  for (size_t f = 0; f < factors.size(); ++f) {
    Json& factor = all.emplace_back(Json::object());
    for (const char* const name : kKept) {
      factor[name] = short_numbers(written[f].at(name));
    }
    factor["worst"] = exemplars_of(written[f]["worst"]);
    factor["typical"] = exemplars_of(written[f]["typical"]);
    factor["columns"] = columns.of_factor[f];
    factor["nodes"] = tree.nodes_of(factors[f], 0);
    factor["instances"] = instances_of(factors[f], tree);
    factor["more_instances"] =
        factors[f].instances.size() - std::min(factors[f].instances.size(), kMostInstances);
  }
  return all;
}

}  // namespace vprof::report
