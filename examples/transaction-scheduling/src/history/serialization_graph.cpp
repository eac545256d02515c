#include "history/serialization_graph.h"

#include <algorithm>
#include <unordered_map>

namespace smf {

namespace {

struct Edge {
  size_t to;
  const char* kind;
  const std::string* key;
};

std::string name(uint64_t id) { return "T" + std::to_string(id); }

class Checker {
 public:
  explicit Checker(const History& history) : history_(history), edges_(history.committed.size()) {
    for (size_t i = 0; i < history.committed.size(); ++i) {
      index_[history.committed[i].id] = i;
    }
  }

  std::optional<std::string> run() {
    for (const HistoryTransaction& transaction : history_.committed) {
      for (const HistoryWrite& write : transaction.writes) {
        last_ordinal_[write.key][transaction.id] = write.ordinal;
      }
    }
    for (const auto& [key, writers] : history_.order) {
      if (auto anomaly = add_writers(key, writers)) {
        return anomaly;
      }
    }
    for (size_t i = 0; i < history_.committed.size(); ++i) {
      if (auto anomaly = check_writes(history_.committed[i])) {
        return anomaly;
      }
      for (const HistoryRead& read : history_.committed[i].reads) {
        if (auto anomaly = add_read(i, read)) {
          return anomaly;
        }
      }
    }
    return find_cycle();
  }

 private:
  std::optional<std::string> add_writers(const std::string& key,
                                         const std::vector<uint64_t>& writers) {
    std::unordered_map<uint64_t, size_t>& place = place_[key];
    for (size_t i = 0; i < writers.size(); ++i) {
      if (!index_.contains(writers[i])) {
        return name(writers[i]) + " has a version of " + key + " and was not committed";
      }
      if (!place.emplace(writers[i], i).second) {
        return name(writers[i]) + " has two versions of " + key;
      }
      if (i > 0) {
        edges_[index_[writers[i - 1]]].push_back({index_[writers[i]], "ww", &key});
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> check_writes(const HistoryTransaction& transaction) {
    for (const HistoryWrite& write : transaction.writes) {
      if (!place_[write.key].contains(transaction.id)) {
        return name(transaction.id) + " was committed, and its version of " + write.key +
               " is missing";
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> add_read(size_t reader, const HistoryRead& read) {
    const auto found = history_.order.find(read.key);
    const std::vector<uint64_t> none;
    const std::vector<uint64_t>& writers = found == history_.order.end() ? none : found->second;
    size_t next = 0;
    if (read.version.writer != 0) {
      const auto& place = place_[read.key];
      const auto writer = place.find(read.version.writer);
      if (writer == place.end()) {
        return name(history_.committed[reader].id) + " has read " + read.key + " of " +
               name(read.version.writer) + ", which was not committed";
      }
      if (last_ordinal_[read.key][read.version.writer] != read.version.ordinal) {
        return name(history_.committed[reader].id) + " has read " + read.key + " of " +
               name(read.version.writer) + ", which has written it again";
      }
      edges_[index_[read.version.writer]].push_back({reader, "wr", &read.key});
      next = writer->second + 1;
    }
    // What a transaction has read before its own write, that write replaces.
    if (next < writers.size() && index_[writers[next]] != reader) {
      edges_[reader].push_back({index_[writers[next]], "rw", &read.key});
    }
    return std::nullopt;
  }

  // Depth first with an explicit stack; each edge is followed once.
  std::optional<std::string> find_cycle() const {
    enum class Mark : uint8_t { kNew, kOnPath, kDone };
    std::vector<Mark> marks(edges_.size(), Mark::kNew);
    std::vector<std::pair<size_t, size_t>> path;  // a transaction, and its edge that comes next
    for (size_t root = 0; root < edges_.size(); ++root) {
      if (marks[root] != Mark::kNew) {
        continue;
      }
      marks[root] = Mark::kOnPath;
      path.emplace_back(root, 0);
      while (!path.empty()) {
        auto& [at, next] = path.back();
        if (next == edges_[at].size()) {
          marks[at] = Mark::kDone;
          path.pop_back();
          continue;
        }
        const size_t to = edges_[at][next++].to;
        if (marks[to] == Mark::kOnPath) {
          return describe(path, to);
        }
        if (marks[to] == Mark::kNew) {
          marks[to] = Mark::kOnPath;
          path.emplace_back(to, 0);
        }
      }
    }
    return std::nullopt;
  }

  std::string describe(const std::vector<std::pair<size_t, size_t>>& path, size_t from) const {
    std::string text = "cycle: ";
    const auto first = std::ranges::find(path, from, &std::pair<size_t, size_t>::first);
    for (auto step = first; step != path.end(); ++step) {
      const Edge& edge = edges_[step->first][step->second - 1];
      text +=
          name(history_.committed[step->first].id) + " -" + edge.kind + "(" + *edge.key + ")-> ";
    }
    return text + name(history_.committed[from].id);
  }

  const History& history_;
  std::unordered_map<uint64_t, size_t> index_;  // of a transaction by its id
  std::unordered_map<std::string, std::unordered_map<uint64_t, size_t>> place_;
  std::unordered_map<std::string, std::unordered_map<uint64_t, uint64_t>> last_ordinal_;
  std::vector<std::vector<Edge>> edges_;
};

}  // namespace

std::optional<std::string> find_anomaly(const History& history) { return Checker(history).run(); }

}  // namespace smf
