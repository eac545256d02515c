#include "html/page_intervals.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace vprof::report {
namespace {

using Json = nlohmann::json;
using analyzer::Details;
using analyzer::IntervalDetail;

constexpr size_t kMostColumns = 64;
constexpr size_t kMostLabels = 1000;
constexpr size_t kMostLabelsWithBins = 100;

Json bins_of(const std::vector<analyzer::LatencyBin>& bins) {
  Json all = Json::array();
  for (const analyzer::LatencyBin& bin : bins) {
    all.push_back({bin.from_ns, bin.to_ns, bin.count});
  }
  return all;
}

/// Numbers recordings in order of time, from 0.
class RunNumbers {
 public:
  explicit RunNumbers(const std::vector<analyzer::Period>& periods) {
    for (const analyzer::Period& period : periods) {
      runs_.insert(period.run);
    }
  }
  size_t of(int64_t run) const {
    return static_cast<size_t>(std::distance(runs_.begin(), runs_.lower_bound(run)));
  }

 private:
  std::set<int64_t> runs_;
};

Json labels_of(const Details& details) {
  Json all = Json::array();
  for (size_t i = 0; i < std::min(details.labels.size(), kMostLabels); ++i) {
    const analyzer::LabelLatencies& label = details.labels[i];
    all.push_back({{"label", label.label},
                   {"count", label.count},
                   {"mean_ns", label.mean_ns},
                   {"stddev_ns", label.stddev_ns},
                   {"p50_ns", label.p50_ns},
                   {"p95_ns", label.p95_ns},
                   {"p99_ns", label.p99_ns},
                   {"bins", i < kMostLabelsWithBins ? bins_of(label.bins) : Json::array()}});
  }
  return all;
}

Json periods_of(const Details& details, const RunNumbers& runs) {
  Json all = Json::array();
  for (const analyzer::Period& period : details.periods) {
    all.push_back({{"run", runs.of(period.run)},
                   {"from", period.from_ns},
                   {"to", period.to_ns},
                   {"mean", period.mean_ns},
                   {"stddev", period.stddev_ns}});
  }
  return all;
}

/// The columns that the time of a node counts in, by node. Time of a node within another one of the
/// same column is in the time of that.
using ColumnsOfNode = std::unordered_map<uint32_t, std::vector<size_t>>;

ColumnsOfNode columns_of_nodes(const PageTree& tree, const TimeColumns& columns) {
  ColumnsOfNode of_node;
  for (size_t column = 0; column < columns.nodes.size(); ++column) {
    for (const uint32_t node : tree.outermost(columns.nodes[column])) {
      of_node[node].push_back(column);
    }
  }
  return of_node;
}

/// Time of each column in an interval.
std::vector<uint64_t> times_of(const IntervalDetail& interval, const ColumnsOfNode& of_node,
                               size_t columns) {
  std::vector<uint64_t> sums(columns, 0);
  for (const analyzer::NodeTime& time : interval.times) {
    const auto found = of_node.find(time.node);
    if (found == of_node.end()) {
      continue;
    }
    for (const size_t column : found->second) {
      sums[column] += time.ns;
    }
  }
  return sums;
}

/// The sampled intervals and the slowest ones, each once.
Json intervals_of(const Details& details, const PageTree& tree, const TimeColumns& columns,
                  const RunNumbers& runs) {
  std::map<std::string, size_t> labels;
  for (size_t i = 0; i < details.labels.size(); ++i) {
    labels[details.labels[i].label] = i;
  }
  using Key = std::pair<uint64_t, int64_t>;
  std::set<Key> slowest;
  for (const IntervalDetail& one : details.worst) {
    slowest.emplace(one.id, one.begin_ns);
  }
  const ColumnsOfNode of_node = columns_of_nodes(tree, columns);
  std::set<Key> done;
  Json all = Json::array();
  const auto add = [&](const IntervalDetail& one, bool sampled) {
    const Key key(one.id, one.begin_ns);
    if (done.insert(key).second) {
      all.push_back({std::to_string(one.id), one.begin_ns, one.latency_ns, labels[one.label],
                     times_of(one, of_node, columns.nodes.size()), slowest.contains(key),
                     runs.of(one.run), sampled});
    }
  };
  for (const IntervalDetail& one : details.sampled) {
    add(one, true);
  }
  for (const IntervalDetail& one : details.worst) {
    add(one, false);
  }
  return all;
}

}  // namespace

TimeColumns choose_columns(const std::vector<analyzer::Factor>& factors, const PageTree& tree) {
  TimeColumns columns;
  columns.of_factor.resize(factors.size());
  for (size_t f = 0; f < factors.size(); ++f) {
    for (size_t n = 0; n < factors[f].functions.size(); ++n) {
      const std::vector<uint32_t> nodes = tree.nodes_of(factors[f], n);
      auto at = std::find(columns.nodes.begin(), columns.nodes.end(), nodes);
      if (at == columns.nodes.end() && columns.nodes.size() < kMostColumns) {
        columns.nodes.push_back(nodes);
        at = columns.nodes.end() - 1;
      }
      columns.of_factor[f].push_back(at == columns.nodes.end() ? -1 : at - columns.nodes.begin());
    }
  }
  return columns;
}

void add_plots(const Details* details, const PageTree& tree, const TimeColumns& columns,
               nlohmann::json& data) {
  const Details none;
  const Details& shown = details == nullptr ? none : *details;
  const RunNumbers runs(shown.periods);
  data["bins"] = bins_of(shown.bins);
  data["labels"] = labels_of(shown);
  data["periods"] = periods_of(shown, runs);
  data["intervals"] = intervals_of(shown, tree, columns, runs);
  data["sampled"] = shown.sampled.size();
  data["worst"] = shown.worst.size();
}

}  // namespace vprof::report
