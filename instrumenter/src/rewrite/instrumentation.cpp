#include "rewrite/instrumentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "program/forms.h"
#include "program/unseen_entries.h"
#include "rewrite/call_sites.h"
#include "rewrite/coroutines.h"
#include "rewrite/function_events.h"
#include "rewrite/twins.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::instrumenter {
namespace {

/// scope.h comes first, and line numbers stay as if it were not there. It includes no system
/// header, so the user's feature macros still come before those.
constexpr const char* kInclude = "#include <vprof/runtime/scope.h>\n";
constexpr const char* kColdSites = "#define VPROF_COLD_SITES 1\n";
constexpr const char* kArmed = "#define VPROF_ARMED 1\n";

/// Of a plan with more sites, most are passed seldom, and what they cost is their presence. So they
/// get the cold form (runtime/record.h), which all files of a plan have in common.
constexpr size_t kSitesInLine = 64;
constexpr const char* kLine = "#line 1\n";

/// Which text was compiled, for VPROF_UNIT: a hash of it, and the file's name as far as a string of
/// an assembler can hold it.
std::string unit_text(const std::string& file, const std::string& original_hash,
                      const std::string& form, const std::vector<Edit>& edits) {
  std::string all = original_hash + form;
  for (const Edit& edit : edits) {
    all += fmt::format("\n{} {} {}\n{}", edit.begin, edit.end, edit.before, edit.after);
  }
  std::string name = file;
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("/._+-").find(c) != std::string_view::npos;
    c = plain ? c : '_';
  }
  return fmt::format("{} {}", content_hash(all), name);
}

constexpr const char* kInTwin = "TWIN_";

/// `scope`: the site of the function scope that the callee begins with; 0: it has none. `twin`:
/// kInTwin or nothing.
Edit call_edit(const CallSites::Wrapped& w, uint32_t id, uint32_t scope, const char* twin) {
  const FormRule& rule = rule_of(w.form);
  const auto text = [&](const char* pattern) {
    return fmt::format(fmt::runtime(pattern), fmt::arg("site", id), fmt::arg("scope", scope),
                       fmt::arg("slot", w.slot), fmt::arg("twin", twin));
  };
  return {w.begin, w.end, text(scope == 0 ? rule.before : rule.before_scope), text(rule.after)};
}

/// Works out the insertions in four steps: choose functions and calls, drop texts that overlap,
/// number the sites, place the edits.
class Instrumenter {
 public:
  Instrumenter(const Program& program, const Plan& plan, const SiteIds& known_ids,
               const ReadOriginal& read_original)
      : program_(program), plan_(plan), known_ids_(known_ids), read_original_(read_original) {}

  Result<Instrumentation> run() {
    VPROF_TRY(choose_functions());
    drop_overlapping();
    if (is_armed()) {
      drop_needless_scopes();
      twins_ = VPROF_TRY(choose_twins(
          program_, [this](const Function& f) { return inserted(f); }, read_original_,
          plan_.cxx_twins_from));
    }
    VPROF_TRY(number_sites());
    VPROF_TRY(place_edits());
    return std::move(out_);
  }

 private:
  /// What is inserted into one function.
  struct Rewritten {
    const Function* function = nullptr;
    bool scope = false;  ///< a scope of its own
    CallSites calls;
    FunctionEvents events;
  };

  Result<void> choose_functions() {
    auto events = VPROF_TRY(configured_events(program_, plan_));
    std::set<std::string> measured = plan_.measured;
    auto expanded = VPROF_TRY(functions_to_expand(measured));
    CalleeEntries entries(program_, plan_);
    for (const std::string& key : expanded) {
      const Function* f = program_.by_key(key);
      if (!f->in_tree || is_excluded(plan_, f->file, f->name)) {
        continue;
      }
      Rewritten& r = rewritten_[key];
      r.calls = call_sites_of(program_, plan_, entries, *f);
      if (f->refused != Reason::kNone) {
        refuse_expressions(r.calls, *f);
      }
      measured.insert(key);
      if (r.calls.measured_at_entry != 0) {
        out_.coverage.calls["callee's entry"] += r.calls.measured_at_entry;
      }
      out_.pseudo_functions.insert(r.calls.pseudo_functions.begin(),
                                   r.calls.pseudo_functions.end());
    }
    measured.insert(entries.measured().begin(), entries.measured().end());
    for (const std::string& key : measured) {
      const Function* f = program_.by_key(key);
      if (f == nullptr) {
        return fail("function {} of the plan is not in the program; run vprof index", key);
      }
      const bool wanted =
          f->in_tree && !is_excluded(plan_, f->file, f->name) && !entries.is_spared(*f);
      const std::string place = fmt::format("{}:{}:{}", f->file, f->line, f->column);
      const bool demoted = plan_.demoted.contains(place);
      rewritten_[key].scope = wanted && f->refused == Reason::kNone && !demoted;
      if (wanted && f->refused != Reason::kNone) {
        ++out_.coverage.functions_refused[text_of(f->refused)];
      }
    }
    std::set<std::string> configured;
    for (auto& [key, event] : events) {
      rewritten_[key].events = std::move(event);
      configured.insert(key);
    }
    coroutines_ = std::make_unique<Coroutines>(program_, plan_, configured);
    for (const Function& f : program_.functions) {
      if (coroutines_->number_of(f) != 0) {
        rewritten_[f.key];
      }
    }
    for (auto& [key, r] : rewritten_) {
      r.function = program_.by_key(key);
    }
    return {};
  }

  /// The functions that the plan expands, with those behind virtual methods, pointers and macros: a
  /// few are expanded as well, more are only `measured`.
  Result<std::set<std::string>> functions_to_expand(std::set<std::string>& measured) const {
    std::set<std::string> expanded;
    if (plan_.all) {
      for (const Function& f : program_.functions) {
        if (f.in_tree) {
          expanded.insert(f.key);
        }
      }
      return expanded;
    }
    for (const std::string& key : plan_.expanded) {
      const Function* f = program_.by_key(key);
      if (f == nullptr) {
        return fail("function {} of the plan is not in the program; run vprof index", key);
      }
      expanded.insert(key);
      const bool few = f->targets.size() <= kExpandedTargets;
      (few ? expanded : measured).insert(f->targets.begin(), f->targets.end());
    }
    return expanded;
  }

  /// A function without a frame object cannot contain the C++ forms that need one. A constexpr
  /// function, and one whose tail call is guaranteed, can contain none.
  static void refuse_expressions(CallSites& calls, const Function& f) {
    const bool none = f.refused == Reason::kConstexpr || f.refused == Reason::kGuaranteedTailCall;
    std::vector<CallSites::Wrapped> kept;
    for (CallSites::Wrapped& w : calls.wrapped) {
      if (!rule_of(w.form).needs_slot && !none) {
        kept.push_back(std::move(w));
        continue;
      }
      calls.unwrapped.push_back({f.key, w.site.function, w.site.file, w.site.line, w.site.column,
                                 Reason::kInRefusedFunction, f.refused});
    }
    calls.wrapped = std::move(kept);
    calls.slots = 0;
  }

  /// Only macros with unbalanced syntax make texts overlap without nesting. The later text gives
  /// way.
  void drop_overlapping() {
    struct Owner {
      Rewritten* rewritten;
      size_t index;
    };
    std::map<std::string, std::pair<std::vector<Edit>, std::vector<Owner>>> files;
    for (auto& [key, r] : rewritten_) {
      for (size_t i = 0; i < r.calls.wrapped.size(); ++i) {
        auto& [edits, owners] = files[r.calls.wrapped[i].site.file];
        edits.push_back(call_edit(r.calls.wrapped[i], 0, 0, ""));
        owners.push_back({&r, i});
      }
    }
    std::map<Rewritten*, std::set<size_t>> bad;
    for (auto& [file, entry] : files) {
      for (const size_t i : overlapping(entry.first)) {
        bad[entry.second[i].rewritten].insert(entry.second[i].index);
      }
    }
    for (auto& [r, indices] : bad) {
      for (auto it = indices.rbegin(); it != indices.rend(); ++it) {
        const Site& site = r->calls.wrapped[*it].site;
        r->calls.unwrapped.push_back(
            {site.parent, site.function, site.file, site.line, site.column, Reason::kOverlap});
        r->calls.wrapped.erase(r->calls.wrapped.begin() + static_cast<std::ptrdiff_t>(*it));
      }
    }
  }

  /// Of an armed program.
  void drop_needless_scopes() {
    std::set<std::tuple<std::string, std::string, uint32_t>> direct;  // caller, callee, offset
    for (const auto& [key, r] : rewritten_) {
      for (const CallSites::Wrapped& w : r.calls.wrapped) {
        if (w.site.call == CallKind::kDirect) {
          direct.emplace(key, w.site.function, w.begin);
        }
      }
    }
    const auto unseen = unseen_entries(program_, [&](const Function& caller, const Call& call) {
      return call.kind == CallKind::kDirect &&
             direct.contains({caller.key, call.callee_key, call.begin});
    });
    for (auto& [key, r] : rewritten_) {
      const bool configured = !r.events.at_body.empty() || !r.events.on_return.empty();
      r.scope =
          r.scope && (configured || (unseen.contains(key) && !does_little(program_, *r.function)));
    }
  }

  Inserted inserted(const Function& f) const {
    const auto found = rewritten_.find(f.key);
    if (found == rewritten_.end()) {
      return Inserted::kNothing;
    }
    const Rewritten& r = found->second;
    const bool in_body = std::ranges::all_of(r.calls.wrapped, [&](const CallSites::Wrapped& w) {
      return w.site.file == f.file && w.begin >= f.body && w.end < f.body_end;
    });
    if (!in_body || !r.events.on_return.empty()) {
      return Inserted::kElsewhere;
    }
    if (!r.events.at_body.empty()) {
      return Inserted::kEvents;
    }
    return r.scope || !r.calls.wrapped.empty() ? Inserted::kInBody : Inserted::kNothing;
  }

  /// Sites of an earlier rewrite keep their numbers; new ones get the next free numbers, ordered by
  /// file and offset. Functions that share one text (templates by inclusion) share its sites.
  Result<void> number_sites() {
    std::map<std::pair<std::string, uint32_t>, std::map<std::string, Site>> by_place;
    for (const auto& [key, r] : rewritten_) {
      const Function& f = *r.function;
      if (r.scope) {
        Site site{0,       SiteKind::kFunction, key, "", f.file, f.body, f.line, f.column,
                  "entry", CallKind::kDirect};
        by_place[{site.file, site.offset}].emplace(site_identity(site), site);
      }
      for (const CallSites::Wrapped& w : r.calls.wrapped) {
        by_place[{w.site.file, w.site.offset}].emplace(site_identity(w.site), w.site);
      }
    }
    uint32_t next = 1;
    for (const auto& [known, id] : known_ids_) {
      next = std::max(next, id + 1);
    }
    const auto number_of = [&](const std::string& identity) {
      const auto known = known_ids_.find(identity);
      return known != known_ids_.end() ? known->second : next++;
    };
    // All gates are looked at all the time, so they are side by side in memory.
    for (const auto& [key, r] : rewritten_) {
      if (twins_.have_sites(r.function)) {
        out_.gates[gate_identity(*r.function)] = number_of(gate_identity(*r.function));
      }
    }
    for (auto& [place, sites] : by_place) {
      for (auto& [name, site] : sites) {
        site.id = number_of(name);
        ids_[name] = site.id;
        const Function* around = program_.by_key(site.parent.empty() ? site.function : site.parent);
        if (twins_.have_sites(around)) {
          site.gate = gate_of(around);
        }
        ++(site.kind == SiteKind::kFunction ? out_.coverage.functions
                                            : out_.coverage.calls[site.rule]);
        out_.sites.push_back(site);
      }
    }
    list_gates();
    if (next > VPROF_MAX_SITES) {
      return fail(
          "the plan needs site number {}, but a record has room for {}; expand fewer functions",
          next - 1, VPROF_MAX_SITES - 1);
    }
    std::sort(out_.sites.begin(), out_.sites.end(),
              [](const Site& a, const Site& b) { return a.id < b.id; });
    return {};
  }

  const char* prefix_in(const Function& f) const {
    return !f.is_cxx && twins_.have_sites(&f) ? kInTwin : "";
  }

  uint32_t gate_of(const Function* f) const { return out_.gates.at(gate_identity(*f)); }

  void list_gates() {
    std::set<uint32_t> with_events;
    for (const auto& [key, r] : rewritten_) {
      if (!r.events.at_body.empty()) {
        for (const Function* gated : twins_.gates_of(r.function)) {
          with_events.insert(gate_of(gated));
        }
      }
    }
    out_.event_gates.assign(with_events.begin(), with_events.end());
    for (const auto& [f, gates] : twins_.behind) {
      std::vector<uint32_t>& open = out_.gates_behind[gate_of(f)];
      for (const Function* gated : gates) {
        open.push_back(gate_of(gated));
      }
      std::ranges::sort(open);
    }
  }

  Result<void> place_edits() {
    std::set<std::pair<std::string, uint32_t>> done;
    for (const auto& [key, r] : rewritten_) {
      const Function& f = *r.function;
      out_.unwrapped.insert(out_.unwrapped.end(), r.calls.unwrapped.begin(),
                            r.calls.unwrapped.end());
      if (f.in_tree && f.body != 0 && done.insert({f.file, f.body}).second) {
        const std::string text = body_text(r);
        if (!text.empty()) {
          out_.edits[f.file].push_back({f.body, f.body, " " + text, ""});
        }
        if (!r.events.on_return.empty()) {
          VPROF_TRY(add_wrapper(f, r.events.on_return));
        }
      }
      for (const CallSites::Wrapped& w : r.calls.wrapped) {
        if (done.insert({w.site.file + "\n" + std::to_string(w.end), w.begin}).second) {
          out_.edits[w.site.file].push_back(call_edit(
              w, ids_.at(site_identity(w.site)), scope_called(w.site), prefix_in(*r.function)));
        }
      }
    }
    place_suspensions();
    VPROF_TRY(move_into_twins());
    std::set<std::string> units;
    for (const Unit& unit : program_.units) {
      units.insert(unit.file);
    }
    for (auto& [file, edits] : out_.edits) {
      const auto original = VPROF_TRY(read_original_(file));
      const auto indexed = program_.file_hashes.find(file);
      if (indexed == program_.file_hashes.end() || indexed->second != content_hash(original)) {
        return fail("{}: changed since it was indexed; run vprof index", file);
      }
      const uint32_t start = original.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0;
      const std::string form =
          std::string(cold_sites() ? kColdSites : "") + (is_armed() ? kArmed : "");
      std::string prelude = form + kInclude;
      if (units.contains(file)) {
        const std::string unit = unit_text(file, indexed->second, form, edits);
        prelude += fmt::format("VPROF_UNIT(\"{}\")\n", unit);
        out_.units[file] = unit;
      }
      edits.insert(edits.begin(), Edit{start, start, prelude + kLine, ""});
    }
    return {};
  }

  Result<void> move_into_twins() {
    // By file and the place of the text that is copied.
    std::map<std::string, std::map<uint32_t, const Function*>> twins;
    for (const Function* f : twins_.all()) {
      twins[f->file][f->is_cxx ? f->body : f->head_begin] = f;
    }
    for (const auto& [file, functions] : twins) {
      const auto original = VPROF_TRY(read_original_(file));
      std::vector<Edit> outside;
      std::map<const Function*, std::vector<Edit>> within;
      for (Edit& edit : out_.edits[file]) {
        const auto next = functions.upper_bound(edit.begin);
        const Function* f = next == functions.begin() ? nullptr : std::prev(next)->second;
        const bool is_within = f != nullptr && edit.begin < f->body_end;
        (is_within ? within[f] : outside).push_back(std::move(edit));
      }
      for (const auto& [begin, f] : functions) {
        const auto edits =
            f->is_cxx
                ? body_twin_edits(*f, gate_of(f), std::move(within[f]), original)
                : twin_edits(*f, twins_.have_sites(f),
                             twins_.gated.contains(f) ? std::optional(gate_of(f)) : std::nullopt,
                             std::move(within[f]), calls_of_copies(program_, twins_, *f, original),
                             original);
        outside.insert(outside.end(), edits.begin(), edits.end());
      }
      out_.edits[file] = std::move(outside);
    }
    return {};
  }

  void place_suspensions() {
    for (const NumberedSuspension& numbered : coroutines_->suspensions()) {
      const Suspension& s = *numbered.suspension;
      out_.edits[s.file].push_back(coroutines_->edit_of(numbered));
      out_.suspensions.push_back({numbered.index, s.name, s.kind == AwaitKind::kYield,
                                  numbered.function->key, s.file, s.line,
                                  coroutines_->awaited_by(numbered)});
    }
  }

  bool is_armed() const { return plan_.all && plan_.armed; }
  bool cold_sites() const { return plan_.all || out_.sites.size() > kSitesInLine; }

  uint32_t scope_of(const Function& f) const {
    return ids_.at(site_identity(
        {0, SiteKind::kFunction, f.key, "", f.file, f.body, 0, 0, "", CallKind::kDirect}));
  }

  /// The site of the function scope that the call is certain to enter; 0: there is none. Recursive
  /// calls are left out: the analysis would take a call directly within another one of the same
  /// caller for its argument.
  uint32_t scope_called(const Site& site) const {
    const auto callee = rewritten_.find(site.function);
    const bool one = site.call == CallKind::kDirect && site.function != site.parent;
    // The call of a coroutine may return before it begins, or while it is suspended.
    return one && callee != rewritten_.end() && callee->second.scope &&
                   !callee->second.function->coroutine
               ? scope_of(*callee->second.function)
               : 0;
  }

  std::string body_text(const Rewritten& r) const {
    if (const uint32_t number = coroutines_->number_of(*r.function)) {
      std::string text = fmt::format("VPROF_COROUTINE({}, {}); {}", number,
                                     r.scope ? scope_of(*r.function) : 0, r.events.at_body);
      return r.calls.slots > 0 ? text + fmt::format("VPROF_FRAME_N({}); ", r.calls.slots) : text;
    }
    std::string text = r.events.at_body;
    if (r.scope) {
      const uint32_t id = scope_of(*r.function);
      text += r.calls.slots > 0 ? fmt::format("VPROF_FUNCTION_N({}, {}); ", id, r.calls.slots)
                                : fmt::format("VPROF_{}FUNCTION({}); ", prefix_in(*r.function), id);
    } else if (r.calls.slots > 0) {
      text += fmt::format("VPROF_FRAME_N({}); ", r.calls.slots);
    }
    return text;
  }

  Result<void> add_wrapper(const Function& f, const std::string& on_return) {
    const auto original = VPROF_TRY(read_original_(f.file));
    auto edits = VPROF_TRY(wrapper_edits(f, on_return, original));
    for (Edit& edit : edits) {
      out_.edits[f.file].push_back(std::move(edit));
    }
    return {};
  }

  const Program& program_;
  const Plan& plan_;
  const SiteIds& known_ids_;
  const ReadOriginal& read_original_;
  std::unique_ptr<Coroutines> coroutines_;  // as soon as the plan is known
  std::map<std::string, Rewritten> rewritten_;
  Twins twins_;  // of an armed program
  std::map<std::string, uint32_t> ids_;
  Instrumentation out_;
};

}  // namespace

std::string UnwrappedCall::text() const {
  return refused_function == Reason::kNone
             ? text_of(reason)
             : fmt::format("{}: {}", text_of(reason), text_of(refused_function));
}

std::string gate_identity(const Function& f) { return fmt::format("gate {}:{}", f.file, f.body); }

std::string site_identity(const Site& site) {
  return fmt::format("{} {}:{}",
                     site.kind == SiteKind::kFunction ? "function" : "call " + site.function,
                     site.file, site.offset);
}

Result<Instrumentation> instrument(const Program& program, const Plan& plan,
                                   const SiteIds& known_ids, const ReadOriginal& read_original) {
  return Instrumenter(program, plan, known_ids, read_original).run();
}

}  // namespace vprof::instrumenter
