#include "discovery/object_lives.h"

#include <algorithm>
#include <cmath>

#include "discovery/name_words.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

// Fewer functions may just handle a detail.
constexpr size_t kLeastUsers = 6;
constexpr size_t kMostSwitches = 12;
// Of all functions: what a request of the program, not of one module, is passed to.
constexpr double kCentralShare = 0.05;
// Makes a request that most functions take as likely as the function at the centre of a server.
constexpr double kWeightOfLife = 16;

/// The name without the word that `is_verb`; empty if it has none or several.
std::string stem(const std::string& name, bool (*is_verb)(const std::string&)) {
  std::string stem;
  int verbs = 0;
  for (const std::string& word : words_of(name)) {
    if (is_verb(word)) {
      ++verbs;
    } else {
      stem += "_" + word;
    }
  }
  return verbs == 1 ? stem : "";
}

/// `arg:N` of the parameter that points to a type; empty if there is none.
std::string argument_of(const ScannedFunction& f, const std::string& type) {
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    if (f.parameters[i].pointer && f.parameters[i].name == type) {
      return fmt::format("arg:{}", i);
    }
  }
  return "";
}

struct Life {
  size_t begin = 0, end = 0;
  std::string type;
};

class Lives {
 public:
  explicit Lives(const ScannedGraph& graph) : graph_(graph) {
    for (size_t i = 0; i < graph.size(); ++i) {
      const std::string name = stem(graph.function(i).name, ends);
      if (!name.empty()) {
        ends_[name].push_back(i);
      }
      const std::string again = stem(graph.function(i).name, reuses);
      if (!again.empty()) {
        reused_.push_back(i);
      }
      for (const std::string& callback : graph.function(i).leaves_to) {
        ++left_to_[callback];
      }
    }
  }

  std::vector<Candidate> find() const {
    std::vector<Candidate> found;
    for (size_t begin = 0; begin < graph_.size(); ++begin) {
      const ScannedFunction& f = graph_.function(begin);
      const std::string name = stem(f.name, makes);
      const auto ends = ends_.find(name);
      if (name.empty() || ends == ends_.end() || request_weight(words_of(f.name)) == 0) {
        continue;
      }
      for (const size_t end : ends->second) {
        add(found, begin, end);
      }
    }
    return found;
  }

 private:
  /// The type that both functions are about.
  std::string common_type(const ScannedFunction& begin, const ScannedFunction& end) const {
    if (begin.returns.pointer && !argument_of(end, begin.returns.name).empty()) {
      return begin.returns.name;
    }
    for (const ScannedType& type : end.parameters) {
      if (type.pointer && !argument_of(begin, type.name).empty() &&
          request_weight(words_of(type.name)) > 0) {
        return type.name;
      }
    }
    return "";
  }

  void add(std::vector<Candidate>& found, size_t begin, size_t end) const {
    const ScannedFunction& maker = graph_.function(begin);
    const ScannedFunction& ender = graph_.function(end);
    const std::string type = common_type(maker, ender);
    const size_t users = graph_.users(type);
    if (type.empty() || type == "void" || users < kLeastUsers || begin == end) {
      return;
    }
    const bool returned = maker.returns.pointer && maker.returns.name == type;
    const double weight = request_weight(words_of(maker.name));
    Candidate life;
    life.type = type;
    life.place = fmt::format("{}:{}", maker.file, maker.line);
    life.begin.push_back({graph_.unique_name(begin), returned ? "exit" : "entry",
                          returned ? "return" : argument_of(maker, type)});
    life.end.push_back({graph_.unique_name(end), "entry", argument_of(ender, type)});
    life.reasons.push_back(
        fmt::format("a {} is made and ended; {} take one", type, counted(users, "function")));
    add_switches(life, type, begin, end);
    if (weight <= 1.2) {
      life.reasons.push_back("against it: one of these may serve many requests");
    }
    const size_t again = reset_of(type);
    if (again != SIZE_MAX) {
      life.reasons.push_back(
          fmt::format("against it: {} makes one ready for the next", graph_.function(again).name));
    }
    if (!graph_.is_repeated(begin)) {
      life.reasons.push_back("against it: nothing seen calls it again and again");
    }
    life.score = kWeightOfLife * weight * std::log2(1 + static_cast<double>(users)) *
                 (graph_.is_repeated(begin) ? 1 : 0.4) * (weight <= 1.2 ? 0.4 : 1) *
                 (again != SIZE_MAX ? 0.15 : 1) * weight_of_names(maker, ender, type) *
                 std::sqrt(std::min(1.0, static_cast<double>(users) / kCentralShare /
                                             static_cast<double>(graph_.size())));
    const auto same = std::find_if(found.begin(), found.end(), [&](const Candidate& other) {
      return other.begin[0].function == life.begin[0].function;
    });
    if (same == found.end()) {
      found.push_back(std::move(life));
    } else if (same->score < life.score) {
      *same = std::move(life);
    }
  }

  /// A function that makes an object of the type ready for its next use, by its name; SIZE_MAX if
  /// there is none.
  size_t reset_of(const std::string& type) const {
    const std::vector<std::string> known = words_of(type);
    for (const size_t i : reused_) {
      const std::vector<std::string> words = words_of(graph_.function(i).name);
      const bool about = std::all_of(words.begin(), words.end(), [&known](const auto& word) {
        return reuses(word) || std::find(known.begin(), known.end(), word) != known.end();
      });
      if (about && !argument_of(graph_.function(i), type).empty()) {
        return i;
      }
    }
    return SIZE_MAX;
  }

  /// Less for words that the type does not have: then it may be about a part of the object.
  static double weight_of_names(const ScannedFunction& maker, const ScannedFunction& ender,
                                const std::string& type) {
    double weight = 1;
    const std::vector<std::string> known = words_of(type);
    for (const std::string& word : words_of(maker.name)) {
      weight *= is_about_peers(word) && word != "client" ? 0.4 : 1;
      weight *=
          !makes(word) && std::find(known.begin(), known.end(), word) == known.end() ? 0.6 : 1;
    }
    double final = 0;
    for (const std::string& word : words_of(ender.name)) {
      final = std::max(final, finality(word));
    }
    return weight * final * (is_of_client(maker.file) ? 0.4 : 1);
  }

  /// The callbacks that take the object: through them an event loop turns to it.
  void add_switches(Candidate& life, const std::string& type, size_t begin, size_t end) const {
    std::vector<std::pair<size_t, CandidatePoint>> all;
    for (size_t i = 0; i < graph_.size(); ++i) {
      const ScannedFunction& f = graph_.function(i);
      const std::string argument = argument_of(f, type);
      const auto stored = left_to_.find(unqualified(f.name));
      if (!argument.empty() && i != begin && i != end && stored != left_to_.end()) {
        all.push_back({stored->second, {graph_.unique_name(i), "entry", argument}});
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (size_t i = 0; i < all.size() && i < kMostSwitches; ++i) {
      life.switches.push_back(all[i].second);
    }
    if (!life.switches.empty()) {
      life.reasons.push_back(
          fmt::format("{} are stored as the next step of one{}: they are under \"switch\"",
                      counted(all.size(), "function"),
                      all.size() == life.switches.size()
                          ? ""
                          : fmt::format(", the {} most frequent ones", life.switches.size())));
    } else {
      life.reasons.push_back(
          "if an event loop serves several at once, name under \"switch\" what it calls for one");
    }
  }

  const ScannedGraph& graph_;
  std::map<std::string, std::vector<size_t>> ends_;  // by stem
  std::vector<size_t> reused_;                       // functions that make something ready again
  std::map<std::string, size_t> left_to_;            // how many functions store it in an object
};

}  // namespace

std::vector<Candidate> object_lives(const ScannedGraph& graph) { return Lives(graph).find(); }

}  // namespace vprof::driver
