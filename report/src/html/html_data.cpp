// What the page is filled with: report.json in pre-order, without what would make the page large.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "html/html_timeline.h"
#include "text/overhead_text.h"
#include "vprof/report/html.h"
#include "vprof/report/json.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;
using analyzer::Details;
using analyzer::Node;

constexpr size_t kMostPairs = 24;       // of one node
constexpr double kLeastPair = 0.0005;   // of the variance
constexpr size_t kMostColumns = 64;     // functions whose time in each interval is given
constexpr size_t kMostInstances = 200;  // of one factor
constexpr size_t kMostLabels = 1000;

/// A node of the tree and the number of its parent.
struct Numbered {
  const Node* node;
  uint32_t parent;
};

/// In pre-order, as analyzer::NodeTime counts.
std::vector<Numbered> numbered(const Node& root) {
  std::vector<Numbered> order;
  std::vector<Numbered> open = {{&root, 0}};
  while (!open.empty()) {
    const Numbered one = open.back();
    open.pop_back();
    const auto number = static_cast<uint32_t>(order.size());
    order.push_back(one);
    for (size_t i = one.node->children.size(); i-- > 0;) {
      open.push_back({&one.node->children[i], number});
    }
  }
  return order;
}

class Data {
 public:
  explicit Data(const HtmlInput& input)
      : input_(input), order_(numbered(input.profile.tree)), notes_(input.notes) {
    if (input.details && input.details->nodes.size() == order_.size() &&
        input.details->count == input.profile.interval.count) {
      details_ = &*input.details;
    } else if (input.details) {
      notes_.emplace_back(
          "The profile is not of this report, so distributions and single intervals are not "
          "shown.");
    }
    name_factors();
    choose_columns();
  }

  Json run() {
    Json report = json(input_.profile, input_.story);
    Json data = {{"title", input_.title},
                 {"interval", std::move(report["interval"])},
                 {"k", input_.profile.k},
                 {"threshold", input_.profile.threshold},
                 {"specificity", name_of(input_.specificity)},
                 {"graph_height", graph_height()},
                 {"factors", factors(report["factors"])},
                 {"nodes", nodes()},
                 {"iterations", std::move(report["iterations"])},
                 {"overhead", overhead_lines(input_.profile, input_.story)},
                 {"losses", std::move(report["losses"])},
                 {"unwrapped", std::move(report["unwrapped"])},
                 {"sources", sources()}};
    for (const std::string& note : input_.profile.losses.notes) {
      notes_.push_back(note);
    }
    add_distributions(data);
    add_intervals(data);
    data["timelines"] = Json::array();
    for (const ShownTimeline& one : input_.timelines) {
      data["timelines"].push_back(to_json(one));
    }
    data["notes"] = notes_;
    return data;
  }

 private:
  static const char* name_of(analyzer::Specificity specificity) {
    switch (specificity) {
      case analyzer::Specificity::kLinear:
        return "linear";
      case analyzer::Specificity::kCubic:
        return "cubic";
      case analyzer::Specificity::kQuadratic:
        break;
    }
    return "quadratic";
  }

  /// What tells factors apart: the key where there is one, else name and definition.
  static std::string identity(const std::string& name, const std::string& key,
                              const std::string& definition) {
    return key.empty() ? name + "\n" + definition : key;
  }

  void name_factors() {
    for (uint32_t i = 0; i < order_.size(); ++i) {
      const Node& node = *order_[i].node;
      const std::string definition = details_ != nullptr ? details_->nodes[i].definition : "";
      std::string id = node.function_key;
      if (id.empty()) {
        id = node.function + "\n" + (definition.empty() ? node.site : definition);
      }
      by_identity_[id].push_back(i);
    }
  }

  /// Nodes of the n-th function of a factor, outermost first.
  std::vector<uint32_t> nodes_of(const analyzer::Factor& factor, size_t n) const {
    const std::string key = n < factor.keys.size() ? factor.keys[n] : "";
    const auto found = by_identity_.find(identity(factor.functions[n], key, factor.definition));
    if (found != by_identity_.end()) {
      return found->second;
    }
    // Waits have no definition; the second of a pair has its own.
    std::vector<uint32_t> named;
    for (uint32_t i = 0; i < order_.size(); ++i) {
      const Node& node = *order_[i].node;
      if (node.function == factor.functions[n] && node.function_key == key) {
        named.push_back(i);
      }
    }
    return named;
  }

  /// Functions of factors get a column of times each, the first ones as long as there is room.
  void choose_columns() {
    columns_of_.resize(input_.profile.factors.size());
    for (size_t f = 0; f < input_.profile.factors.size(); ++f) {
      const analyzer::Factor& factor = input_.profile.factors[f];
      for (size_t n = 0; n < factor.functions.size(); ++n) {
        const std::vector<uint32_t> nodes = nodes_of(factor, n);
        auto at = std::find(columns_.begin(), columns_.end(), nodes);
        if (at == columns_.end() && columns_.size() < kMostColumns) {
          columns_.push_back(nodes);
          at = columns_.end() - 1;
        }
        columns_of_[f].push_back(at == columns_.end() ? -1 : at - columns_.begin());
      }
    }
  }

  int graph_height() const {
    if (details_ != nullptr) {
      return details_->graph_height;
    }
    int height = 0;
    for (const analyzer::Factor& factor : input_.profile.factors) {
      height = std::max(height, factor.height + 1);
    }
    return height;
  }

  static Json exemplars(const Json& from) {
    Json all = Json::array();
    for (const Json& one : from) {
      all.push_back({{"id", std::to_string(one["id"].get<uint64_t>())},
                     {"ns", one["ns"]},
                     {"latency_ns", one["latency_ns"]}});
    }
    return all;
  }

  Json factors(const Json& from) const {
    Json all = Json::array();
    for (size_t f = 0; f < from.size(); ++f) {
      Json factor = from[f];
      factor["worst"] = exemplars(factor["worst"]);
      factor["typical"] = exemplars(factor["typical"]);
      factor["columns"] = columns_of_[f];
      factor["nodes"] = nodes_of(input_.profile.factors[f], 0);
      auto& instances = factor["instances"].get_ref<Json::array_t&>();
      factor["more_instances"] = instances.size() - std::min(instances.size(), kMostInstances);
      instances.resize(std::min(instances.size(), kMostInstances));
      factor.erase("keys");
      all.push_back(std::move(factor));
    }
    return all;
  }

  /// The largest covariances of a node's children, as numbers of nodes.
  static Json pairs(const Node& node, const std::vector<uint32_t>& children, size_t& more) {
    std::vector<analyzer::Covariance> sorted;
    for (const analyzer::Covariance& pair : node.covariances) {
      if (std::abs(pair.contribution) >= kLeastPair) {
        sorted.push_back(pair);
      }
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return std::abs(a.contribution) > std::abs(b.contribution);
    });
    sorted.resize(std::min(sorted.size(), kMostPairs));
    more = node.covariances.size() - sorted.size();
    Json all = Json::array();
    for (const analyzer::Covariance& pair : sorted) {
      all.push_back({children[pair.a], children[pair.b], pair.contribution});
    }
    return all;
  }

  Json nodes() const {
    std::vector<std::vector<uint32_t>> children(order_.size());
    for (uint32_t i = 1; i < order_.size(); ++i) {
      children[order_[i].parent].push_back(i);
    }
    Json all = Json::array();
    for (uint32_t i = 0; i < order_.size(); ++i) {
      const Node& node = *order_[i].node;
      size_t more = 0;
      Json own = {{"name", node.function},
                  {"kind", word_for(node.kind)},
                  {"parent", order_[i].parent},
                  {"site", node.site},
                  {"definition", details_ != nullptr ? details_->nodes[i].definition : ""},
                  {"mean", node.mean_ns},
                  {"variance", node.variance_ns2},
                  {"contribution", node.contribution},
                  {"share", node.share},
                  {"tail", node.tail_share},
                  {"work", node.work_share},
                  {"by_label", node.label_share},
                  {"count", node.count},
                  {"pairs", pairs(node, children[i], more)}};
      own["more_pairs"] = more;
      all.push_back(std::move(own));
    }
    return all;
  }

  Json sources() const {
    Json all = Json::array();
    for (const SourceText& source : input_.sources) {
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

  static Json bins(const std::vector<analyzer::LatencyBin>& from) {
    Json all = Json::array();
    for (const analyzer::LatencyBin& bin : from) {
      all.push_back({bin.from_ns, bin.to_ns, bin.count});
    }
    return all;
  }

  void add_distributions(Json& data) const {
    data["bins"] = Json::array();
    data["labels"] = Json::array();
    data["periods"] = Json::array();
    if (details_ == nullptr) {
      return;
    }
    data["bins"] = bins(details_->bins);
    for (size_t i = 0; i < std::min(details_->labels.size(), kMostLabels); ++i) {
      const analyzer::LabelLatencies& label = details_->labels[i];
      data["labels"].push_back({{"label", label.label},
                                {"count", label.count},
                                {"mean_ns", label.mean_ns},
                                {"stddev_ns", label.stddev_ns},
                                {"p50_ns", label.p50_ns},
                                {"p95_ns", label.p95_ns},
                                {"p99_ns", label.p99_ns},
                                {"bins", i < 100 ? bins(label.bins) : Json::array()}});
    }
    for (const analyzer::Period& period : details_->periods) {
      data["periods"].push_back({{"run", run_number(period.run)},
                                 {"from", period.from_ns},
                                 {"to", period.to_ns},
                                 {"mean", period.mean_ns},
                                 {"stddev", period.stddev_ns}});
    }
  }

  /// Recordings in order of time, from 0.
  size_t run_number(int64_t run) const {
    std::set<int64_t> runs;
    for (const analyzer::Period& period : details_->periods) {
      runs.insert(period.run);
    }
    return static_cast<size_t>(std::distance(runs.begin(), runs.lower_bound(run)));
  }

  /// Of the nodes of a column; one below another counts nothing itself.
  Json times(const analyzer::IntervalDetail& interval) const {
    std::map<uint32_t, uint64_t> by_node;
    for (const analyzer::NodeTime& time : interval.times) {
      by_node[time.node] = time.ns;
    }
    Json all = Json::array();
    for (const std::vector<uint32_t>& nodes : columns_) {
      uint64_t sum = 0;
      for (const uint32_t node : nodes) {
        const auto time = by_node.find(node);
        if (time != by_node.end() && !below_one_of(node, nodes)) {
          sum += time->second;
        }
      }
      all.push_back(sum);
    }
    return all;
  }

  bool below_one_of(uint32_t node, const std::vector<uint32_t>& nodes) const {
    while (node != 0) {
      node = order_[node].parent;
      if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
        return true;
      }
    }
    return false;
  }

  void add_intervals(Json& data) const {
    Json& all = data["intervals"] = Json::array();
    data["sampled"] = details_ == nullptr ? 0 : details_->sampled.size();
    data["worst"] = details_ == nullptr ? 0 : details_->worst.size();
    if (details_ == nullptr) {
      return;
    }
    std::map<std::string, size_t> labels;
    for (size_t i = 0; i < details_->labels.size(); ++i) {
      labels[details_->labels[i].label] = i;
    }
    std::set<std::pair<uint64_t, int64_t>> slowest;
    for (const auto& one : details_->worst) {
      slowest.emplace(one.id, one.begin_ns);
    }
    std::set<std::pair<uint64_t, int64_t>> done;
    const auto add = [&](const analyzer::IntervalDetail& one, bool sampled) {
      const std::pair key(one.id, one.begin_ns);
      if (!done.insert(key).second) {
        return;
      }
      all.push_back({std::to_string(one.id), one.begin_ns, one.latency_ns, labels[one.label],
                     times(one), slowest.contains(key), run_number(one.run), sampled});
    };
    for (const auto& one : details_->sampled) {
      add(one, true);
    }
    for (const auto& one : details_->worst) {
      add(one, false);
    }
  }

  const HtmlInput& input_;
  const std::vector<Numbered> order_;
  const Details* details_ = nullptr;
  std::vector<std::string> notes_;
  std::map<std::string, std::vector<uint32_t>> by_identity_;
  std::vector<std::vector<uint32_t>> columns_;           // nodes
  std::vector<std::vector<std::ptrdiff_t>> columns_of_;  // by factor; -1: none
};

}  // namespace

nlohmann::json html_data(const HtmlInput& input) { return Data(input).run(); }

}  // namespace vprof::report
