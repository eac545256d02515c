#include "discovery/handlers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <deque>
#include <map>

#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

// A call by name may refer to this many functions; if more have the name, the call is ignored.
constexpr size_t kMaxTargets = 3;
constexpr size_t kMinCalleesOfHandler = 2;
constexpr size_t kMinCalleesOfStateMachine = 10;
constexpr int kUnreached = 1000;  // depth of a function that no thread reaches

struct Edge {
  size_t to;
  LoopKind loop;
};

bool mentions(const std::string& text, const std::vector<std::string>& words) {
  std::string lower = text;
  for (char& c : lower) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return std::any_of(words.begin(), words.end(),
                     [&](const auto& word) { return lower.find(word) != std::string::npos; });
}

double weight_of_name(const std::string& name) {
  if (mentions(name,
               {"close", "compact", "rebalanc", "config", "cleanup", "purge", "archive", "recover",
                "destroy", "init", "usage", "print", "dump", "debug", "thread", "property"})) {
    return 0.3;
  }
  return mentions(name, {"request", "query", "command", "transaction", "handle", "process",
                         "dispatch", "execute", "serve", "message", "drive"})
             ? 2
             : 1;
}

std::string unqualified(const std::string& name) { return std::string(last_part(name)); }

/// The approximate call graph of the source.
class ScannedGraph {
 public:
  explicit ScannedGraph(const ScannedSource& source)
      : source_(source), edges_(source.functions.size()) {
    const auto& functions = source.functions;
    for (size_t i = 0; i < functions.size(); ++i) {
      by_name_[unqualified(functions[i].name)].push_back(i);
    }
    for (size_t i = 0; i < functions.size(); ++i) {
      for (const ScannedCall& call : functions[i].calls) {
        connect(i, call);
      }
    }
    find_depths();
    find_callers();
  }

  std::vector<Handler> rank(size_t count) const {
    std::vector<Handler> handlers;
    for (size_t i = 0; i < edges_.size(); ++i) {
      Handler handler = judge(i);
      if (handler.score > 0) {
        handlers.push_back(std::move(handler));
      }
    }
    std::stable_sort(handlers.begin(), handlers.end(),
                     [](const Handler& a, const Handler& b) { return a.score > b.score; });
    if (handlers.size() > count) {
      handlers.resize(count);
    }
    return handlers;
  }

 private:
  void connect(size_t from, const ScannedCall& call) {
    const auto found = by_name_.find(call.name);
    if (found == by_name_.end() || found->second.size() > kMaxTargets) {
      return;
    }
    for (const size_t to : found->second) {
      if (to != from) {
        edges_[from].push_back({to, call.loop});
      }
    }
  }

  /// Computes the number of calls from where a thread begins: from `main`, or from a function that
  /// is passed on as a pointer.
  void find_depths() {
    depth_.assign(edges_.size(), kUnreached);
    std::deque<size_t> queue;
    for (size_t i = 0; i < edges_.size(); ++i) {
      const std::string name = unqualified(source_.functions[i].name);
      if (name != "main" && !source_.passed_on.contains(name)) {
        continue;
      }
      depth_[i] = name == "main" ? 0 : 1;
      queue.push_back(i);
    }
    while (!queue.empty()) {
      const size_t from = queue.front();
      queue.pop_front();
      for (const Edge& edge : edges_[from]) {
        if (depth_[edge.to] <= depth_[from] + 1) {
          continue;
        }
        depth_[edge.to] = depth_[from] + 1;
        queue.push_back(edge.to);
      }
    }
  }

  /// Number of functions that a function reaches.
  size_t below(size_t root) const {
    std::set<size_t> seen = {root};
    std::vector<size_t> open = {root};
    while (!open.empty()) {
      const size_t from = open.back();
      open.pop_back();
      for (const Edge& edge : edges_[from]) {
        if (seen.insert(edge.to).second) {
          open.push_back(edge.to);
        }
      }
    }
    return seen.size() - 1;
  }

  size_t callees(size_t i) const {
    std::set<std::string> names;
    for (const ScannedCall& call : source_.functions[i].calls) {
      names.insert(call.name);
    }
    return names.size();
  }

  struct Caller {
    size_t function = 0;
    LoopKind loop = LoopKind::kNone;
  };

  /// Finds the caller of each function whose loop looks most like that of a server.
  void find_callers() {
    callers_.resize(edges_.size());
    std::vector<int> depth(edges_.size(), kUnreached + 1);
    for (size_t from = 0; from < edges_.size(); ++from) {
      for (const Edge& edge : edges_[from]) {
        Caller& best = callers_[edge.to];
        if (std::pair(edge.loop, -depth_[from]) <= std::pair(best.loop, -depth[edge.to])) {
          continue;
        }
        best = {from, edge.loop};
        depth[edge.to] = depth_[from];
      }
    }
  }

  /// Whether a function is called by a callback and loops by itself: event-driven servers handle
  /// requests like this.
  bool is_state_machine(size_t i) const {
    const auto& calls = source_.functions[i].calls;
    return depth_[i] == 2 && callees(i) >= kMinCalleesOfStateMachine &&
           std::any_of(calls.begin(), calls.end(),
                       [](const ScannedCall& call) { return call.loop >= LoopKind::kWhile; });
  }

  Handler judge(size_t i) const {
    const ScannedFunction& f = source_.functions[i];
    if (callees(i) < kMinCalleesOfHandler || unqualified(f.name) == "main" ||
        is_auxiliary(f.file)) {
      return {};
    }
    const Caller from = callers_[i];
    const bool machine = is_state_machine(i);
    if (from.loop == LoopKind::kNone && !machine) {
      return {};
    }
    const auto reached = static_cast<double>(below(i));
    const double loop = from.loop == LoopKind::kEndless ? 3
                        : machine                       ? 2.5
                        : from.loop == LoopKind::kWhile ? 2
                                                        : 1;
    Handler handler;
    handler.name = f.name;
    handler.place = fmt::format("{}:{}", f.file, f.line);
    handler.score = std::log2(2 + reached) * std::log2(1 + static_cast<double>(callees(i))) * loop *
                    weight_of_name(unqualified(f.name)) / std::sqrt(1.0 + std::min(depth_[i], 20));
    handler.reason = reason(i, from, static_cast<size_t>(reached));
    if (from.loop < LoopKind::kEndless && machine) {
      handler.reason = fmt::format(
          "loops once per event ({}, {} below); if a request takes several events, name its begin "
          "and end",
          counted(callees(i), "callee"), counted(static_cast<size_t>(reached), "function"));
    }
    return handler;
  }

  std::string reason(size_t i, const Caller& from, size_t reached) const {
    const ScannedFunction& caller = source_.functions[from.function];
    const char* loop = from.loop == LoopKind::kEndless ? "an endless loop" : "a loop";
    std::string text =
        fmt::format("called in {} of {} ({}:{}); {}, {} below", loop, caller.name, caller.file,
                    caller.line, counted(callees(i), "callee"), counted(reached, "function"));
    if (depth_[i] < kUnreached) {
      text += fmt::format("; {} from where its thread begins",
                          counted(static_cast<size_t>(depth_[i]), "call"));
    }
    return text;
  }

  const ScannedSource& source_;
  std::vector<std::vector<Edge>> edges_;
  std::map<std::string, std::vector<size_t>> by_name_;
  std::vector<int> depth_;
  std::vector<Caller> callers_;
};

}  // namespace

std::vector<Handler> likely_handlers(const ScannedSource& source, size_t count) {
  return ScannedGraph(source).rank(count);
}

}  // namespace vprof::driver
