#include "html/page_sources.h"

#include <algorithm>
#include <cmath>

#include "html/page_numbers.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;
using analyzer::CallCost;
using analyzer::PlaceCost;

constexpr size_t kMostLines = 120;  // of one function
constexpr size_t kAround = 4;       // lines before and after a call

/// Which lines of a function the page holds.
class LineChoice {
 public:
  LineChoice(size_t first, size_t count) : first_(first), chosen_(count, count <= kMostLines) {}

  /// As far as there is room.
  void add(size_t from, size_t to) {
    for (size_t line = std::max(from, first_); line <= to && line < first_ + chosen_.size();
         ++line) {
      if (!chosen_[line - first_] && taken_ < kMostLines) {
        chosen_[line - first_] = true;
        ++taken_;
      }
    }
  }

  bool has(size_t line) const {
    return line >= first_ && line < first_ + chosen_.size() && chosen_[line - first_];
  }

 private:
  size_t first_;
  size_t taken_ = 0;
  std::vector<bool> chosen_;
};

LineChoice choose_lines(const SourceText& source) {
  const AnnotatedFunction& function = source.function;
  LineChoice choice(function.first, function.lines.size());
  choice.add(function.first, function.first + kAround);
  if (source.line != 0) {
    choice.add(source.line - std::min(source.line, kAround), source.line + kAround);
  }
  std::vector<const CallCost*> calls;
  for (const CallCost& call : function.costs.sites) {
    if (is_in_lines(call, function) && call.cost.count != 0) {
      calls.push_back(&call);
    }
  }
  std::ranges::stable_sort(calls, std::greater<>(),
                           [](const CallCost* call) { return std::abs(call->cost.share); });
  for (const CallCost* call : calls) {
    choice.add(call->line - std::min<size_t>(call->line, kAround), call->line + kAround);
  }
  choice.add(function.first, function.first + function.lines.size());
  return choice;
}

Json parts_of(const AnnotatedFunction& function, const LineChoice& choice) {
  Json parts = Json::array();
  for (size_t i = 0; i < function.lines.size(); ++i) {
    const size_t line = function.first + i;
    if (!choice.has(line)) {
      continue;
    }
    if (parts.empty() || !choice.has(line - 1)) {
      parts.push_back({{"first", line}, {"lines", Json::array()}});
    }
    parts.back()["lines"].push_back(function.lines[i]);
  }
  return parts;
}

void add_figures(double calls, const PlaceCost& cost, Json& row) {
  for (const double value : {calls, cost.mean_ns, cost.stddev_ns, cost.share}) {
    row.push_back(short_numbers(value));
  }
}

Json source_json(const SourceText& source) {
  const AnnotatedFunction& function = source.function;
  const LineChoice choice = choose_lines(source);
  Json notes = Json::array();
  if (std::string note = note_on_text(function); !note.empty()) {
    notes.push_back(std::move(note));
  }
  Json calls = Json::array(), rest = Json::array(), below = Json::array();
  if (source.costed) {
    for (std::string& note : notes_on_costs(function)) {
      notes.push_back(std::move(note));
    }
    below = notes_on_unmeasured(function);
    if (function.costs.own.count != 0) {
      add_figures(0, function.costs.own, rest.emplace_back(Json{"(own time)", ""}));
    }
  }
  for (const CallCost& call : function.costs.sites) {
    if (call.cost.count == 0 && call.calls == 0) {
      continue;
    }
    if (is_in_lines(call, function) && choice.has(call.line)) {
      add_figures(call.calls, call.cost, calls.emplace_back(Json{call.line, call.callee}));
    } else {
      const std::string place = call.line == 0 ? "" : call.file + ":" + std::to_string(call.line);
      add_figures(call.calls, call.cost, rest.emplace_back(Json{call.callee, place}));
    }
  }
  return {{"title", function.name},
          {"file", function.file},
          {"first", function.first},
          {"last", function.first + function.lines.size()},
          {"line", source.line},
          {"costed", source.costed},
          {"parts", parts_of(function, choice)},
          {"calls", std::move(calls)},
          {"rest", std::move(rest)},
          {"notes", std::move(notes)},
          {"notes_below", std::move(below)},
          {"share", short_numbers(function.costs.whole.share)},
          {"factors", source.factors}};
}

}  // namespace

Json page_sources(const std::vector<SourceText>& sources) {
  Json all = Json::array();
  for (const SourceText& source : sources) {
    all.push_back(source_json(source));
  }
  return all;
}

}  // namespace vprof::report
