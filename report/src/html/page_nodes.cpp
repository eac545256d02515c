#include "html/page_nodes.h"

#include <algorithm>
#include <unordered_map>

#include "html/page_numbers.h"
#include "vprof/report/json.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;
using analyzer::Node;
using analyzer::NodeKind;

constexpr size_t kMostPairs = 24;      // of one node
constexpr double kLeastPair = 0.0005;  // of the variance
constexpr double kNs = 0.1;            // to which times are rounded
constexpr double kPart = 1e-6;         // and shares

/// Numbers texts in the order in which they come.
class Texts {
 public:
  size_t of(const std::string& text) {
    const auto [entry, is_new] = numbers_.try_emplace(text, all_.size());
    if (is_new) {
      all_.push_back(text);
    }
    return entry->second;
  }
  const Json& all() const { return all_; }

 private:
  std::unordered_map<std::string, size_t> numbers_;
  Json all_ = Json::array();
};

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

/// [node, [[child, child, contribution]...], number of those left out] for each node that has any.
Json pairs_of(const PageTree& tree) {
  const std::vector<std::vector<uint32_t>> children = tree.children();
  Json all = Json::array();
  for (uint32_t i = 0; i < tree.entries().size(); ++i) {
    const Node& node = *tree.entries()[i].node;
    if (node.covariances.empty()) {
      continue;
    }
    Json pairs = Json::array();
    for (const analyzer::Covariance& pair : largest_pairs(node)) {
      pairs.push_back(
          {children[i][pair.a], children[i][pair.b], short_number(pair.contribution, kPart)});
    }
    const size_t more = node.covariances.size() - pairs.size();
    all.push_back({i, std::move(pairs), more});
  }
  return all;
}

Json kind_words() {
  Json words = Json::array();
  for (const char* word : json::Words<NodeKind>::kWords) {
    words.push_back(word);
  }
  return words;
}

/// The node that is this step below `above`; -1 if there is none, or more than one of that name. A
/// function without callees is its own body.
int64_t node_of(const PageTree& tree, const std::vector<uint32_t>& children, int64_t above,
                const PlaceOnPath& place) {
  if (children.empty() && place.kind == NodeKind::kBody) {
    return above;
  }
  int64_t found = -1;
  for (const uint32_t child : children) {
    const Node& node = *tree.entries()[child].node;
    const bool same_name = place.kind == NodeKind::kBody || node.function == place.name;
    if (node.kind == place.kind && same_name) {
      if (found != -1) {
        return -1;
      }
      found = child;
    }
  }
  return found;
}

}  // namespace

Json page_nodes(const PageTree& tree) {
  constexpr const char* kFields[] = {"parent",    "name",  "kind", "site", "definition", "mean",
                                     "deviation", "share", "tail", "work", "by_label",   "count"};
  Json columns;
  for (const char* const field : kFields) {
    columns[field] = Json::array();
  }
  Texts texts;
  for (uint32_t i = 0; i < tree.entries().size(); ++i) {
    const Node& node = *tree.entries()[i].node;
    columns["parent"].push_back(tree.entries()[i].parent);
    columns["name"].push_back(texts.of(node.function));
    columns["kind"].push_back(static_cast<unsigned>(node.kind));
    columns["site"].push_back(texts.of(node.location));
    columns["definition"].push_back(texts.of(tree.definition(i)));
    columns["mean"].push_back(short_number(node.mean_ns, kNs));
    columns["deviation"].push_back(short_number(std::sqrt(std::max(0.0, node.variance_ns2)), kNs));
    columns["share"].push_back(short_number(node.share, kPart));
    columns["tail"].push_back(node.tail_share ? short_number(*node.tail_share, kPart) : Json());
    columns["work"].push_back(short_number(node.work_share, kPart));
    columns["by_label"].push_back(short_number(node.label_share, kPart));
    columns["count"].push_back(node.count);
  }
  columns["texts"] = texts.all();
  columns["kinds"] = kind_words();
  columns["pairs"] = pairs_of(tree);
  return columns;
}

Json page_places(const PageTimelines& timelines, const PageTree& tree) {
  const std::vector<std::vector<uint32_t>> children = tree.children();
  const std::vector<PlaceOnPath>& places = timelines.places();
  std::vector<int64_t> nodes = {-1};
  Json all = Json::array();
  for (size_t i = 1; i < places.size(); ++i) {
    const PlaceOnPath& place = places[i];
    const int64_t above = nodes[place.parent];
    int64_t node = place.parent == 0 ? 0 : -1;
    if (above >= 0) {
      node = node_of(tree, children[static_cast<size_t>(above)], above, place);
    }
    nodes.push_back(node);
    all.push_back({place.parent, place.name, word_for(place.kind), node});
  }
  return all;
}

}  // namespace vprof::report
