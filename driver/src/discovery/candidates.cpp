#include "discovery/candidates.h"

#include <algorithm>
#include <cmath>

#include "discovery/name_words.h"
#include "discovery/object_lives.h"
#include "discovery/scanned_graph.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

constexpr size_t kMinCallees = 2;
constexpr size_t kMinCalleesOfStateMachine = 10;
constexpr size_t kMinCasesOfStateMachine = 5;
constexpr size_t kMinCasesOfDispatch = 8;
constexpr size_t kUsersOfCentralType = 10;
constexpr size_t kLookedAt = 150;  // functions of which more than names is looked at
constexpr size_t kLeastTable = 4;  // functions in tables below which none is one of many

/// Functions that wait for the next event or client, whoever that is.
bool waits_for_anybody(const std::string& name) {
  static const std::set<std::string, std::less<>> names = {"accept",
                                                           "accept4",
                                                           "epoll_wait",
                                                           "epoll_pwait",
                                                           "epoll_pwait2",
                                                           "kevent",
                                                           "port_getn",
                                                           "event_base_loop",
                                                           "event_base_dispatch",
                                                           "event_dispatch",
                                                           "ev_run",
                                                           "ev_loop",
                                                           "uv_run",
                                                           "g_main_loop_run",
                                                           "async_accept",
                                                           "io_uring_wait_cqe",
                                                           "io_uring_wait_cqes",
                                                           "io_uring_submit_and_wait",
                                                           "GetQueuedCompletionStatus"};
  return names.contains(name);
}
/// Functions that wait for anything: in an endless loop, for the next thing to do.
bool waits(const std::string& name) {
  static const std::set<std::string, std::less<>> names = {"poll",
                                                           "select",
                                                           "ppoll",
                                                           "pselect",
                                                           "pthread_cond_wait",
                                                           "pthread_cond_timedwait",
                                                           "sem_wait",
                                                           "sigsuspend",
                                                           "pause",
                                                           "sleep",
                                                           "usleep",
                                                           "nanosleep"};
  return names.contains(name) || waits_for_anybody(name);
}

class Judge {
 public:
  Judge(const ScannedSource& source, const ScannedGraph& graph) : source_(source), graph_(graph) {}

  /// The score without a look at what is below the function, which takes long in a large program.
  double first_look(size_t i) const {
    if (graph_.callees(i) < kMinCallees || unqualified(graph_.function(i).name) == "main") {
      return 0;
    }
    std::vector<std::string> reasons;
    return place_in_program(i, is_state_machine(i), graph_.callees(i), reasons) * shape(i, reasons);
  }

  void judge(size_t i, Proposals& into) const {
    const ScannedFunction& f = graph_.function(i);
    const std::string life = why_life_of_server(i);
    const bool machine = is_state_machine(i);
    if (life.empty() && !graph_.is_repeated(i) && !machine) {
      return;
    }
    Candidate candidate;
    candidate.function = f.name;
    candidate.place = fmt::format("{}:{}", f.file, f.line);
    candidate.score = place_in_program(i, machine, graph_.below(i), candidate.reasons) *
                      shape(i, candidate.reasons);
    if (!life.empty()) {
      into.rejected.push_back({f.name, candidate.place, life, candidate.score});
    } else {
      into.candidates.push_back(std::move(candidate));
    }
  }

 private:
  /// Why a call of this function lasts as long as the server or a thread of it, or is one turn of
  /// its loop; empty if it is neither.
  std::string why_life_of_server(size_t i) const {
    const ScannedFunction& f = graph_.function(i);
    const bool state = f.cases >= kMinCasesOfStateMachine;  // accepting may be one of its states
    for (const ScannedCall& call : f.calls) {
      if (waits_for_anybody(call.name) && !state) {
        return call.loop == LoopKind::kNone
                   ? fmt::format("waits for the next event ({})", call.name)
                   : fmt::format("calls {} in a loop: the life of the server", call.name);
      }
      if (call.loop == LoopKind::kEndless && waits(call.name)) {
        return fmt::format("calls {} in an endless loop: the life of a thread", call.name);
      }
    }
    for (const ScannedCall& call : f.calls) {
      const size_t callee = call.loop >= LoopKind::kWhile ? graph_.only(call.name) : SIZE_MAX;
      if (callee == SIZE_MAX) {
        continue;
      }
      const auto& below = graph_.function(callee).calls;
      if (std::any_of(below.begin(), below.end(),
                      [](const auto& inner) { return waits_for_anybody(inner.name); })) {
        return fmt::format("calls {}, which waits for events, in a loop: the life of the server",
                           call.name);
      }
    }
    return graph_.is_thread_entry(i) ? "a thread begins with it: the life of a thread" : "";
  }

  /// Whether it is called by a callback and chooses by a state in a loop.
  bool is_state_machine(size_t i) const {
    const auto& calls = graph_.function(i).calls;
    return graph_.depth(i) <= 2 && graph_.callees(i) >= kMinCalleesOfStateMachine &&
           graph_.function(i).cases >= kMinCasesOfStateMachine &&
           std::any_of(calls.begin(), calls.end(),
                       [](const ScannedCall& call) { return call.loop >= LoopKind::kWhile; });
  }

  double place_in_program(size_t i, bool machine, size_t below,
                          std::vector<std::string>& reasons) const {
    const ScannedGraph::Caller from = graph_.best_caller(i);
    const ScannedFunction& caller = graph_.function(from.function);
    double loop = 1.5;
    if (from.loop >= LoopKind::kWhile ||
        (from.loop == LoopKind::kCounted && !graph_.is_callback(i))) {
      loop = from.loop == LoopKind::kEndless ? 3 : from.loop == LoopKind::kWhile ? 2 : 1.5;
      reasons.push_back(fmt::format("called in {} of {} ({}:{})",
                                    from.loop == LoopKind::kEndless ? "an endless loop" : "a loop",
                                    caller.name, caller.file, caller.line));
    } else if (graph_.is_callback(i)) {
      loop = 2;
      reasons.emplace_back("called through a pointer: an event, or an entry of a table");
    }
    if (machine) {
      loop = std::max(loop, 2.5);
      reasons.emplace_back("loops once per event: a state machine");
    }
    std::string size = fmt::format("{}, {} below", counted(graph_.callees(i), "callee"),
                                   counted(below, "function"));
    if (graph_.depth(i) < ScannedGraph::kUnreached) {
      size += fmt::format("; {} from where its thread begins",
                          counted(static_cast<size_t>(graph_.depth(i)), "call"));
    }
    reasons.push_back(std::move(size));
    return std::log2(2 + static_cast<double>(below)) *
           std::log2(1 + static_cast<double>(graph_.callees(i))) * loop /
           std::sqrt(1.0 + std::min(graph_.depth(i), 20));
  }

  /// What its name and its body say.
  double shape(size_t i, std::vector<std::string>& reasons) const {
    const ScannedFunction& f = graph_.function(i);
    double weight = weight_of_name(f, reasons);
    for (const ScannedType& type : f.parameters) {
      if (type.pointer && request_weight(words_of(type.name)) > 1.2 &&
          graph_.users(type.name) >= kUsersOfCentralType) {
        weight *= 1.5;
        reasons.push_back(fmt::format("takes a {}, as {} do", type.name,
                                      counted(graph_.users(type.name), "function")));
        break;
      }
    }
    if (f.cases >= kMinCasesOfDispatch) {
      weight *= 1.3;
      reasons.push_back(fmt::format("chooses among {}", counted(f.cases, "case")));
    }
    const auto left = std::find_if(f.leaves_to.begin(), f.leaves_to.end(),
                                   [this](const auto& name) { return graph_.has(name); });
    if (left != f.leaves_to.end()) {
      weight *= 0.4;
      reasons.push_back(fmt::format(
          "against it: it leaves the rest to {}, so a request may go on after it returns", *left));
    }
    if (source_.in_tables.contains(unqualified(f.name)) &&
        source_.in_tables.size() >= kLeastTable) {
      weight *= 0.5;
      reasons.emplace_back("against it: it is in a table, perhaps one kind of request of many");
    }
    return weight;
  }

  static double weight_of_name(const ScannedFunction& f, std::vector<std::string>& reasons) {
    const std::vector<std::string> words = words_of(f.name);
    const double handled = handling_weight(words);
    const bool verb = std::any_of(words.begin(), words.end(), is_handling);
    double weight = handled > 0 ? 1 + handled : verb ? 1.5 : request_weight(words) > 1.2 ? 1.2 : 1;
    if (handled > 1.2) {
      reasons.insert(reasons.begin(), "its name says that it handles one");
    }
    const auto has = [&words](bool (*kind)(const std::string&)) {
      return std::any_of(words.begin(), words.end(), kind);
    };
    weight *= has(is_step) ? 0.4 : 1;
    weight *= has(is_housekeeping) ? 0.3 : 1;
    weight *= has(is_about_peers) ? 0.4 : 1;
    weight *= is_of_client(f.file) ? 0.4 : 1;
    if (has(is_collective)) {
      weight *= 0.25;
      reasons.emplace_back("against it: by its name it handles several");
    }
    return weight;
  }

  const ScannedSource& source_;
  const ScannedGraph& graph_;
};

struct FirstLook {
  size_t function = 0;
  double score = 0;
};

template <class T>
void keep_best(std::vector<T>& all, size_t count) {
  std::stable_sort(all.begin(), all.end(),
                   [](const T& a, const T& b) { return a.score > b.score; });
  if (all.size() > count) {
    all.resize(count);
  }
}

}  // namespace

Proposals propose(const ScannedSource& source, size_t candidates, size_t rejected) {
  const ScannedGraph graph(source);
  Proposals proposals;
  proposals.candidates = object_lives(graph);
  // Several ways to make or end the same object: the best of each type is enough.
  keep_best(proposals.candidates, 2);
  const Judge judge(source, graph);
  std::vector<FirstLook> looks;
  looks.reserve(graph.size());
  for (size_t i = 0; i < graph.size(); ++i) {
    looks.push_back({i, judge.first_look(i)});
  }
  keep_best(looks, kLookedAt);
  for (const FirstLook& look : looks) {
    if (look.score > 0) {
      judge.judge(look.function, proposals);
    }
  }
  keep_best(proposals.candidates, candidates);
  keep_best(proposals.rejected, rejected);
  return proposals;
}

}  // namespace vprof::driver
