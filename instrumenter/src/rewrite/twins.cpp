#include "rewrite/twins.h"

#include <algorithm>
#include <deque>
#include <map>

namespace vprof::instrumenter {
namespace {

/// A loop that ends some day can still be the main loop of a thread if it is this near to where the
/// thread starts, in calls, and hardly anything else calls it.
constexpr int kNearStart = 3;
constexpr size_t kMostCallers = 3;

bool is_static(const Function& f) { return !f.usr.starts_with("c:@F@"); }

/// Functions with a loop, by their distance from where threads and callbacks start.
class LongLived {
 public:
  explicit LongLived(const Program& program) : program_(program) {
    for (const Function& f : program.functions) {
      start_at(f);
    }
    while (!near_.empty()) {
      const auto [f, distance] = near_.front();
      near_.pop_front();
      if (f->loops && program.caller_count(*f) <= kMostCallers) {
        found_.insert(f);
      }
      for (const Call& call : f->calls) {
        if (call.kind == CallKind::kDirect) {
          add(program.by_key(call.callee_key), distance + 1);
        }
      }
    }
  }

  bool contain(const Function& f) const { return f.endless || found_.contains(&f); }

 private:
  void start_at(const Function& f) {
    if (f.name == "main") {
      add(&f, 0);
    }
    for (const Call& call : f.calls) {
      if (call.kind == CallKind::kSpawn) {
        add(program_.by_key(call.callee_key), 0);
      } else if (call.kind == CallKind::kCallback || call.kind == CallKind::kTask) {
        add(program_.by_key(call.callee_key), kNearStart);
      }
    }
  }

  void add(const Function* f, int distance) {
    if (f != nullptr && distance <= kNearStart && seen_.insert(f).second) {
      near_.emplace_back(f, distance);
    }
  }

  const Program& program_;
  std::set<const Function*> seen_;
  std::set<const Function*> found_;
  std::deque<std::pair<const Function*, int>> near_;
};

/// Files that others include.
struct Included {
  std::set<std::string> any;
  std::set<std::string> by_cxx;

  explicit Included(const Program& program) {
    for (const Unit& unit : program.units) {
      for (const std::string& file : unit.deps) {
        if (file != unit.file) {
          any.insert(file);
        }
        if (!unit.file.ends_with(".c")) {
          by_cxx.insert(file);
        }
      }
    }
  }
};

/// The functions whose text can be copied where it stands, by file and the place of their body. Of
/// C, files that others include have only `static` ones, and none if C++ includes them.
std::map<std::string, std::map<uint32_t, std::vector<const Function*>>> functions_of_files(
    const Program& program, const Included& included) {
  std::map<std::string, std::map<uint32_t, std::vector<const Function*>>> files;
  const auto may_have_copy_beside_it = [&](const Function& f) {
    return !included.by_cxx.contains(f.file) && (is_static(f) || !included.any.contains(f.file));
  };
  for (const Function& f : program.functions) {
    if (f.in_tree && (f.is_cxx || may_have_copy_beside_it(f))) {
      files[f.file][f.body].push_back(&f);
    }
  }
  return files;
}

/// Whether a copy of a function without sites makes a difference while no gate is open. A small
/// original is put in line in its only caller as long as it has no other; to call a larger one
/// costs little beside what it does. And what it calls has no gate as long as only copies call
/// that.
bool is_worth_copying(const Program& program, const Twins& twins, const Function& f) {
  constexpr uint32_t kSmall = 150;
  return (f.size <= kSmall && program.caller_count(f) == 1) ||
         std::ranges::any_of(f.calls, [&](const Call& call) {
           const Function* callee = program.by_key(call.callee_key);
           return call.kind == CallKind::kDirect && twins.gated.contains(callee) &&
                  twins.called.contains(callee);
         });
}

/// Adds the functions without sites that copies call.
void add_copied(const Program& program, const std::set<const Function*>& without_sites,
                Twins& twins) {
  std::deque<const Function*> callers(twins.gated.begin(), twins.gated.end());
  while (!callers.empty()) {
    const Function* caller = callers.front();
    callers.pop_front();
    for (const Call& call : caller->calls) {
      const Function* callee = program.by_key(call.callee_key);
      if (call.kind == CallKind::kDirect && without_sites.contains(callee) &&
          is_worth_copying(program, twins, *callee) && twins.copied.insert(callee).second) {
        callers.push_back(callee);
      }
    }
  }
}

/// Takes the gates from static functions which only copies can reach while a gate is open.
class GateRemover {
 public:
  GateRemover(const Program& program, Twins& twins) : program_(program), twins_(twins) {
    for (const Unit& unit : program.units) {
      address_taken_.insert(unit.address_taken.begin(), unit.address_taken.end());
    }
  }

  /// @param texts of the files of the twins
  /// @param keep have gates all the same. Callers of what begins a request may run for as long as a
  ///     connection is open, and were entered before anybody attached.
  void run(const std::map<std::string, std::string>& texts, const std::set<const Function*>& keep) {
    std::map<const Function*, std::map<const Function*, size_t>> moved;  // by caller and callee
    for (const Function* f : twins_.all()) {
      for (const CallOfCopy& call : calls_of_copies(program_, twins_, *f, texts.at(f->file))) {
        ++moved[f][call.callee];
      }
    }
    std::map<const Function*, std::set<const Function*>> callers;
    std::set<const Function*> reached;  // from elsewhere than from a copy
    for (const Function& f : program_.functions) {
      std::map<const Function*, size_t> calls;
      for (const Call& call : f.calls) {
        if (const Function* callee = program_.by_key(call.callee_key)) {
          ++calls[callee];
          callers[callee].insert(&f);
        }
      }
      for (const auto& [callee, count] : calls) {
        if (moved[&f][callee] != count) {
          reached.insert(callee);
        }
      }
    }
    for (const Function* f : twins_.all()) {
      if (twins_.gated.contains(f) && twins_.called.contains(f) && !reached.contains(f) &&
          !keep.contains(f) && !address_taken_.contains(f->usr)) {
        twins_.behind[f];
      }
    }
    for (auto& [f, gates] : twins_.behind) {
      twins_.gated.erase(f);
    }
    for (auto& [f, gates] : twins_.behind) {
      find_gates(f, callers, gates);
    }
    std::erase_if(twins_.behind, [&](const auto& entry) {
      return entry.second.empty() && twins_.gated.insert(entry.first).second;
    });
  }

 private:
  void find_gates(const Function* f,
                  const std::map<const Function*, std::set<const Function*>>& callers,
                  std::set<const Function*>& gates) const {
    std::set<const Function*> seen{f};
    std::deque<const Function*> next{f};
    while (!next.empty()) {
      const auto found = callers.find(next.front());
      next.pop_front();
      if (found == callers.end()) {
        continue;
      }
      for (const Function* caller : found->second) {
        if (twins_.gated.contains(caller)) {
          gates.insert(caller);
        } else if (twins_.contain(caller) && seen.insert(caller).second) {
          next.push_back(caller);
        }
      }
    }
  }

  const Program& program_;
  Twins& twins_;
  std::set<std::string> address_taken_;
};

}  // namespace

std::set<const Function*> Twins::gates_of(const Function* f) const {
  const auto found = behind.find(f);
  if (found != behind.end()) {
    return found->second;
  }
  return gated.contains(f) ? std::set{f} : std::set<const Function*>{};
}

std::set<const Function*> Twins::all() const {
  std::set<const Function*> out = gated;
  out.insert(copied.begin(), copied.end());
  for (const auto& [f, gates] : behind) {
    out.insert(f);
  }
  return out;
}

Result<Twins> choose_twins(const Program& program,
                           const std::function<Inserted(const Function&)>& inserted,
                           const ReadOriginal& read_original, uint32_t smallest_of_cxx) {
  const LongLived long_lived(program);
  Twins twins;
  std::set<const Function*> without_sites;
  std::set<const Function*> with_events;
  std::map<std::string, std::string> texts;
  const Included included(program);
  for (const auto& [file, bodies] : functions_of_files(program, included)) {
    const std::string& text = texts[file] = VPROF_TRY(read_original(file));
    const bool has_lines = has_line_directives(text);
    const Conditions conditions(text);
    for (const auto& [body, sharing] : bodies) {
      const Function& f = *sharing.front();
      const bool can_be = f.is_cxx ? f.size >= smallest_of_cxx && body_can_be_copied(f, text)
                                   : !has_lines && can_be_copied(f, text);
      if (sharing.size() > 1 || !can_be) {
        continue;
      }
      const Inserted what = inserted(f);
      const bool can_be_called =
          !f.is_cxx && is_static(f) && conditions.hold_always_at(f.head_begin);
      if (can_be_called) {
        twins.called.insert(&f);
      }
      const bool has_sites = what == Inserted::kInBody || what == Inserted::kEvents;
      if (has_sites && !long_lived.contain(f)) {
        twins.gated.insert(&f);
        if (what == Inserted::kEvents) {
          with_events.insert(&f);
        }
      } else if (what == Inserted::kNothing && can_be_called && !included.any.contains(file)) {
        without_sites.insert(&f);
      }
    }
  }
  add_copied(program, without_sites, twins);
  GateRemover(program, twins).run(texts, with_events);
  return twins;
}

std::vector<CallOfCopy> calls_of_copies(const Program& program, const Twins& twins,
                                        const Function& f, const std::string& text) {
  std::map<uint32_t, CallOfCopy> calls;
  for (const Call& call : f.calls) {
    const Function* callee = program.by_key(call.callee_key);
    if (call.kind != CallKind::kDirect || call.file != f.file || callee == nullptr ||
        callee->file != f.file || !twins.called.contains(callee) || !twins.contain(callee)) {
      continue;
    }
    if (const auto end = end_of_callee(call, callee->name, text)) {
      calls[*end] = {callee, twins.have_sites(callee), *end};
    }
  }
  std::vector<CallOfCopy> out;
  out.reserve(calls.size());
  for (const auto& [end, call] : calls) {
    out.push_back(call);
  }
  return out;
}

}  // namespace vprof::instrumenter
