#include "discovery/interface_entries.h"

#include <algorithm>
#include <cmath>

#include "discovery/name_words.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

constexpr size_t kLeastBelow = 4;  // with less, it looks something up
constexpr double kWeightOfLoop = 4;

struct Uses {
  size_t calls = 0, in_loops = 0;
};

/// What users of a library do once, or beside what they use it for.
bool is_set_up(const std::vector<std::string>& words) {
  static const std::set<std::string, std::less<>> set_up = {
      "bind",  "connect", "disconnect", "socket",  "sockopt", "setsockopt", "getsockopt", "ctx",
      "term",  "set",     "register",   "version", "errno",   "finalize",   "db",         "name",
      "count", "repair",  "unbind",     "check",   "wait",    "poll",       "poller",     "device"};
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return set_up.contains(word) || makes(word) || ends(word) || is_housekeeping(word);
  });
}

class Entries {
 public:
  Entries(const ScannedSource& source, const ScannedGraph& graph) : source_(source), graph_(graph) {
    std::set<std::string> programs;  // files with a `main`
    for (const ScannedFunction& f : source.functions) {
      if (unqualified(f.name) == "main") {
        programs.insert(f.file);
      }
    }
    for (const ScannedFunction& f : source.functions) {
      if (!programs.contains(f.file) && !is_auxiliary(f.file)) {
        continue;
      }
      for (const ScannedCall& call : f.calls) {
        Uses& uses = uses_[call.name];
        ++uses.calls;
        uses.in_loops += call.loop != LoopKind::kNone ? 1 : 0;
      }
    }
  }

  std::vector<Candidate> find() const {
    std::vector<Candidate> found;
    for (size_t i = 0; i < graph_.size() && !source_.interface.empty(); ++i) {
      const ScannedFunction& f = graph_.function(i);
      const std::string header = header_of(f.name);
      const auto uses = uses_.find(unqualified(f.name));
      if (header.empty() || uses == uses_.end() || is_set_up(words_of(f.name)) ||
          short_name(f.name) == constructor(f.name)) {
        continue;
      }
      const size_t below = graph_.below(i);
      if (below < kLeastBelow) {
        continue;
      }
      Candidate entry;
      entry.function = graph_.unique_name(i);
      entry.place = fmt::format("{}:{}", f.file, f.line);
      entry.reasons.push_back(fmt::format("what users of the library call ({})", header));
      entry.reasons.push_back(fmt::format(
          "called {} in tests, examples and programs, {} in loops; {} below",
          counted(uses->second.calls, "time"), uses->second.in_loops, counted(below, "function")));
      entry.score = std::log2(static_cast<double>(below)) *
                    std::log2(1 + static_cast<double>(uses->second.calls) +
                              kWeightOfLoop * static_cast<double>(uses->second.in_loops));
      // Of several overloads, the best.
      const auto overload = std::find_if(found.begin(), found.end(), [&](const Candidate& other) {
        return other.function.substr(0, other.function.find('@')) == f.name;
      });
      if (overload == found.end()) {
        found.push_back(std::move(entry));
      } else if (overload->score < entry.score) {
        *overload = std::move(entry);
      }
    }
    return found;
  }

 private:
  static std::string constructor(const std::string& name) {
    const std::string own = unqualified(name);
    return own + "::" + own;
  }

  /// The public header that declares a function, or that of a base class which it overrides; empty
  /// if there is none.
  std::string header_of(const std::string& name) const {
    const std::string both = short_name(name);
    const auto found = source_.interface.find(both);
    if (found != source_.interface.end()) {
      return found->second;
    }
    const size_t scope = both.find("::");
    const auto bases = source_.bases.find(both.substr(0, scope));
    if (scope == std::string::npos || bases == source_.bases.end()) {
      return "";
    }
    for (const std::string& base : bases->second) {
      const auto inherited = source_.interface.find(base + both.substr(scope));
      if (inherited != source_.interface.end()) {
        return inherited->second;
      }
    }
    return "";
  }

  const ScannedSource& source_;
  const ScannedGraph& graph_;
  std::map<std::string, Uses> uses_;
};

/// Whether the source has a program that serves clients: a `main`, and something that waits for
/// them, not for the kernel (a ring).
bool is_server(const ScannedGraph& graph) {
  bool program = false, waits = false;
  for (size_t i = 0; i < graph.size(); ++i) {
    const ScannedFunction& f = graph.function(i);
    program = program || unqualified(f.name) == "main";
    waits = waits || std::any_of(f.calls.begin(), f.calls.end(), [](const ScannedCall& call) {
              return waits_for_anybody(call.name) && !call.name.starts_with("io_uring");
            });
  }
  return program && waits;
}

}  // namespace

std::vector<Candidate> interface_entries(const ScannedSource& source, const ScannedGraph& graph) {
  return is_server(graph) ? std::vector<Candidate>() : Entries(source, graph).find();
}

}  // namespace vprof::driver
