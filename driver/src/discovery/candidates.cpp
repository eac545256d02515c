#include "discovery/candidates.h"

#include <algorithm>
#include <cmath>

#include "discovery/interface_entries.h"
#include "discovery/name_words.h"
#include "discovery/object_lives.h"
#include "discovery/scan/scanned_graph.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

constexpr size_t kMinCallees = 2;
constexpr size_t kMinCalleesOfStateMachine = 10;
constexpr size_t kMinCasesOfStateMachine = 5;
constexpr size_t kMinCasesOfDispatch = 8;
constexpr size_t kUsersOfCentralType = 10;
constexpr size_t kEntries = 4;     // of a library's interface
constexpr size_t kLookedAt = 150;  // functions of which more than names is looked at
constexpr size_t kLeastTable = 4;  // functions in tables below which none is one of many

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
  Judge(const ScannedSource& source, const ScannedGraph& graph, const std::vector<Candidate>& lives)
      : source_(source), graph_(graph), lives_(lives) {}

  /// The score without a look at what is below the function, which takes long in a large program.
  double first_look(size_t i) const {
    if (graph_.callees(i) < kMinCallees || is_main(graph_.function(i).name)) {
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
    candidate.function = graph_.unique_name(i);
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
    const auto call = std::find_if(f.calls.begin(), f.calls.end(),
                                   [](const ScannedCall& one) { return accepts(one.name); });
    if (call != f.calls.end() && !is_state_machine(i) && handling_weight(words_of(f.name)) == 0) {
      return fmt::format("accepts clients ({})", call->name);
    }
    return graph_.is_thread_entry(i) && graph_.accepted_by(i) == SIZE_MAX
               ? "a thread begins with it: the life of a thread"
               : "";
  }

  /// Whether it is called by a callback and chooses by a state in a loop.
  bool is_state_machine(size_t i) const {
    const auto& calls = graph_.function(i).calls;
    if (is_machine(words_of(graph_.function(i).name))) {
      return true;
    }
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
      loop = graph_.is_pool_task(i) ? 3 : 2;
      reasons.emplace_back(graph_.is_pool_task(i)
                               ? "given to a pool of threads: a task"
                               : "called through a pointer: an event, or an entry of a table");
    }
    if (machine) {
      loop = std::max(loop, 2.5);
      reasons.emplace_back("loops once per event: a state machine");
    }
    if (const size_t by = graph_.accepted_by(i); by != SIZE_MAX) {
      loop = std::max(loop, 3.0);
      reasons.push_back(fmt::format("{} passes it on when it accepts a client ({}:{})",
                                    graph_.function(by).name, graph_.function(by).file,
                                    graph_.function(by).line));
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
    double weight = weight_of_name(i, reasons);
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
    const auto step = std::find_if(lives_.begin(), lives_.end(), [&](const Candidate& life) {
      return graph_.is_callback(i) &&
             std::any_of(f.parameters.begin(), f.parameters.end(), [&](const ScannedType& type) {
               return type.pointer && type.name == life.type;
             });
    });
    if (step != lives_.end()) {
      weight *= 0.5;
      reasons.push_back(fmt::format("against it: one step of a {}, from {} to {}", step->type,
                                    step->begin[0].function, step->end[0].function));
    }
    if (graph_.is_thread_entry(i)) {
      weight *= 0.6;
      reasons.emplace_back("against it: a thread for each client, which may send many requests");
    }
    if (graph_.is_stored(i)) {
      weight *= 0.6;
      reasons.emplace_back(
          "against it: an object stores it as its next step, so a request may take several calls");
    }
    if (is_of_module(f.file)) {
      weight *= 0.5;
      reasons.emplace_back("against it: it is in a module, which not every request may need");
    }
    if (source_.in_tables.contains(unqualified(f.name)) &&
        source_.in_tables.size() >= kLeastTable) {
      weight *= 0.5;
      reasons.emplace_back("against it: it is in a table, perhaps one kind of request of many");
    }
    return weight;
  }

  double weight_of_name(size_t i, std::vector<std::string>& reasons) const {
    const ScannedFunction& f = graph_.function(i);
    const std::vector<std::string> words = words_of(f.name);
    // A task that is named after a request handles it.
    const double handled =
        std::max(handling_weight(words), graph_.is_pool_task(i) ? request_weight(words) : 0);
    const bool verb = std::any_of(words.begin(), words.end(), is_handling);
    double weight = handled > 0 ? 1 + handled : verb ? 1.5 : request_weight(words) > 1.2 ? 1.2 : 1;
    if (handled > 1.2) {
      reasons.insert(reasons.begin(), "its name says that it handles one");
    }
    const auto has = [&words](bool (*kind)(const std::string&)) {
      return std::any_of(words.begin(), words.end(), kind);
    };
    weight *= has(is_step) && !is_machine(words) ? 0.4 : 1;
    const bool serves = graph_.accepted_by(i) != SIZE_MAX || has_twin(i, "client", "server");
    weight *= is_of_peers(f.file) || is_toward_peers(i, words, serves) ? 0.4 : 1;
    weight *= is_of_client(f.file) && !serves ? 0.4 : 1;
    // `client_thread`, but not `worker_thread`.
    weight *= has(is_housekeeping) && graph_.accepted_by(i) == SIZE_MAX ? 0.3 : 1;
    if (is_machine(words)) {
      weight *= 1.2;
      reasons.emplace_back("its name says that it is a state machine");
    } else if (has(is_collective)) {
      weight *= 0.25;
      reasons.emplace_back("against it: by its name it handles several");
    }
    return weight;
  }

  /// Whether there is a function of the same name but for one word. A program with a `client_read`
  /// and a `server_read` stands between the two.
  bool has_twin(size_t i, std::string_view word, std::string_view other) const {
    std::string name = unqualified(graph_.function(i).name);
    const size_t at = name.find(word);
    return at != std::string::npos && graph_.has(name.replace(at, word.size(), other));
  }

  /// Whether a function is about those that the program is a client or a peer of.
  bool is_toward_peers(size_t i, const std::vector<std::string>& words, bool serves) const {
    return has_twin(i, "server", "client") ||
           std::any_of(words.begin(), words.end(), [&](const std::string& word) {
             return is_about_peers(word) && (word != "client" || !serves);
           });
  }

  const ScannedSource& source_;
  const ScannedGraph& graph_;
  const std::vector<Candidate> lives_;
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
  const Judge judge(source, graph, proposals.candidates);
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
  std::vector<Candidate> entries = interface_entries(source, graph);
  keep_best(entries, std::min(candidates, kEntries));
  proposals.candidates.insert(proposals.candidates.begin(), entries.begin(), entries.end());
  proposals.candidates.resize(std::min(proposals.candidates.size(), candidates));
  keep_best(proposals.rejected, rejected);
  return proposals;
}

}  // namespace vprof::driver
