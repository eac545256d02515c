#include "rewrite/call_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "program/forms.h"

namespace vprof::instrumenter {
namespace {

/// The calls in one piece of text: usually one, several where a macro is wrapped as a whole.
struct Group {
  std::vector<const Call*> calls;
  const Call& first() const { return *calls.front(); }
};

std::vector<Group> groups_of(const Function& f) {
  std::map<std::tuple<std::string, uint32_t, uint32_t, Form>, Group> groups;
  for (const Call& call : f.calls) {
    // Refused calls have no text of their own: each becomes a group below.
    const uint32_t end = call.form == Form::kRefused ? call.begin : call.end;
    Group& group = groups[{call.file, call.begin, end, call.form}];
    group.calls.push_back(&call);
  }
  std::vector<Group> result;
  for (auto& [place, group] : groups) {
    if (group.first().form != Form::kRefused) {
      result.push_back(std::move(group));
      continue;
    }
    for (const Call* call : group.calls) {
      result.push_back({{call}});
    }
  }
  return result;
}

/// Decides for each call of a function whether it is wrapped, measured at the entry of its callee,
/// or left alone.
class CallSiteChooser {
 public:
  CallSiteChooser(const Program& program, const Plan& plan, CalleeEntries& entries,
                  const Function& f)
      : program_(program), plan_(plan), entries_(entries), function_(f) {}

  CallSites run() {
    for (const Group& group : groups_of(function_)) {
      choose(group);
    }
    keep_guards_alone();
    number_slots();
    return std::move(out_);
  }

 private:
  using FullExpression = std::pair<std::string, uint32_t>;  // file and offset

  static FullExpression full_expression_of(const CallSites::Wrapped& w) {
    return {w.site.file, w.full_expr};
  }

  void choose(const Group& group) {
    std::vector<const Call*> worthwhile;
    for (const Call* call : group.calls) {
      if (call->noreturn || !is_call(*call)) {
        continue;
      }
      if (is_wanted(*call)) {
        worthwhile.push_back(call);
      } else {
        note(*call, Reason::kTrivial);
      }
    }
    if (worthwhile.empty()) {
      return;
    }
    const Call& call = *worthwhile.front();
    const std::string place = fmt::format("{}:{}:{}", call.file, call.line, call.column);
    if (plan_.demoted.count(place) != 0) {
      return note(call, Reason::kDemoted);
    }
    if (is_excluded(plan_, call.file, call.callee_name)) {
      return note(call, Reason::kExcluded);
    }
    if (call.form == Form::kRefused) {
      return measure_at_entry(call, call.reason);
    }
    // A text that is included within functions may be included elsewhere as well, where it is none
    // of statements: a table of flags, say, of which an enumeration is made, too.
    const bool included = call.file != function_.file;
    if (included || entries_.is_spared(function_)) {
      for (const Call* each : worthwhile) {
        measure_at_entry(*each, included ? Reason::kIncludedText : Reason::kInSmallHelper);
      }
      return;
    }
    wrap(group, worthwhile);
  }

  bool is_wanted(const Call& call) const {
    if (!plan_.armed) {
      return plan_.all || worth_measuring(program_, call);
    }
    const Function* callee = program_.by_key(call.callee_key);
    return worth_measuring(program_, call) &&
           (callee == nullptr || !does_little(program_, *callee));
  }

  void wrap(const Group& group, const std::vector<const Call*>& worthwhile) {
    const Call& call = *worthwhile.front();
    CallSites::Wrapped wrapped;
    wrapped.form = group.first().form;
    wrapped.begin = call.begin;
    wrapped.end = call.end;
    wrapped.full_expr = call.full_expr;
    Site& site = wrapped.site;
    site.kind = SiteKind::kCall;
    site.function = call.callee_key;
    site.parent = function_.key;
    site.file = call.file;
    site.offset = call.begin;
    site.line = call.line;
    site.column = call.column;
    site.rule = call.macro.empty() ? rule_of(call.form).rule : "macro";
    site.call = call.kind;
    const bool one_callee = std::all_of(worthwhile.begin(), worthwhile.end(), [&](const Call* c) {
      return c->callee_key == call.callee_key;
    });
    if (!one_callee) {
      site.function = call.macro.empty() ? call.callee_key : call.macro + "@";
    }
    if (!one_callee || call.kind == CallKind::kIndirect) {
      PseudoFunction& pseudo = out_.pseudo_functions[site.function];
      if (!one_callee && !call.macro.empty() && pseudo.file.empty()) {
        pseudo.file = call.macro_file;
        pseudo.line = call.macro_line;
      }
      for (const Call* c : worthwhile) {
        if (const Function* callee = program_.by_key(c->callee_key)) {
          pseudo.height = std::max(pseudo.height, callee->height);
        }
      }
    }
    calls_.push_back(&call);
    out_.wrapped.push_back(std::move(wrapped));
  }

  /// A guard closes at the end of the full expression, so it would swallow the other calls measured
  /// there.
  void keep_guards_alone() {
    std::map<FullExpression, std::vector<size_t>> full_exprs;
    for (size_t i = 0; i < out_.wrapped.size(); ++i) {
      full_exprs[full_expression_of(out_.wrapped[i])].push_back(i);
    }
    std::set<size_t> removed;
    for (const auto& [place, members] : full_exprs) {
      if (members.size() < 2) {
        continue;
      }
      for (const size_t i : members) {
        if (rule_of(out_.wrapped[i].form).must_be_alone) {
          removed.insert(i);
        }
      }
    }
    std::vector<CallSites::Wrapped> kept;
    for (size_t i = 0; i < out_.wrapped.size(); ++i) {
      if (removed.count(i) == 0) {
        kept.push_back(std::move(out_.wrapped[i]));
      } else {
        measure_at_entry(*calls_[i], Reason::kGuardNotAlone);
      }
    }
    out_.wrapped = std::move(kept);
  }

  /// Calls of one full expression may be timed at the same time, one within the other or in turn:
  /// compilers mix the operands of `f() + g()`. Those of different ones are not, so they share
  /// slots: a large function would otherwise need kilobytes of stack.
  void number_slots() {
    std::map<FullExpression, unsigned> used;
    for (CallSites::Wrapped& w : out_.wrapped) {
      if (rule_of(w.form).needs_slot) {
        w.slot = used[full_expression_of(w)]++;
        out_.slots = std::max(out_.slots, w.slot + 1);
      }
    }
  }

  void measure_at_entry(const Call& call, Reason reason) {
    if (!entries_.measure(call)) {
      return note(call, reason);
    }
    ++out_.measured_at_entry;
  }

  void note(const Call& call, Reason reason) {
    out_.unwrapped.push_back(
        {function_.key, call.callee_name, call.file, call.line, call.column, reason});
  }

  const Program& program_;
  const Plan& plan_;
  CalleeEntries& entries_;
  const Function& function_;
  CallSites out_;
  std::vector<const Call*> calls_;  // parallel to out_.wrapped, before guards are removed
};

}  // namespace

CallSites call_sites_of(const Program& program, const Plan& plan, CalleeEntries& entries,
                        const Function& f) {
  return CallSiteChooser(program, plan, entries, f).run();
}

}  // namespace vprof::instrumenter
