// Program + Plan → what to insert where, and what each site number means. Plain data on both sides:
// no Clang, no files.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rewrite/text/edits.h"
#include "vprof/instrumenter/plan.h"
#include "vprof/instrumenter/program.h"
#include "vprof/instrumenter/sites.h"

namespace vprof::instrumenter {

/// A measured place. A call site is identified by the text it wraps, a function by the offset of
/// its body.
/// A function that exists only as a name: a macro with several calls, or an indirect call.
struct PseudoFunction {
  int height = 0;
  std::string file;   ///< of the macro's definition; empty: unknown, or no macro
  uint32_t line = 0;  ///< 1-based
};

struct Site {
  uint32_t id = 0;
  SiteKind kind = SiteKind::kCall;
  std::string function;  ///< key of the measured function: for a call site, the callee
  std::string parent;    ///< for a call site, key of the function that contains it
  std::string file;
  uint32_t offset = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string rule;
  CallKind call = CallKind::kDirect;
  uint32_t gate = 0;  ///< of the function whose twin contains the site (twins.h); 0: none does
};

/// A place where a coroutine can be suspended.
struct SuspensionSite {
  uint32_t index = 0;
  std::string name;  ///< what is awaited
  bool yields = false;
  std::string parent;  ///< key of the coroutine
  std::string file;
  uint32_t line = 0;
  std::vector<std::string> awaits;  ///< keys of the coroutines that may begin because of it
};

/// A call of an expanded function that is not measured, and why.
struct UnwrappedCall {
  std::string parent;
  std::string callee;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  Reason reason = Reason::kNone;
  Reason refused_function = Reason::kNone;  ///< for kInRefusedFunction: why `parent` is refused

  std::string text() const;
};

/// How many of the functions and calls that the plan asks for are measured.
struct Coverage {
  size_t functions = 0;                             ///< with a scope
  std::map<std::string, size_t> functions_refused;  ///< by reason
  std::map<std::string, size_t> calls;              ///< measured, by rule
};

struct Instrumentation {
  std::map<std::string, std::vector<Edit>> edits;  ///< by file
  std::map<std::string, std::string> units;        ///< rewritten units: what VPROF_UNIT says there
  std::vector<Site> sites;                         ///< ordered by id
  SiteIds gates;                                   ///< by gate_identity()
  std::vector<uint32_t> event_gates;               ///< of functions with configured events
  /// By the gate of a function that has none of its own in its text: those that stand for it.
  std::map<uint32_t, std::vector<uint32_t>> gates_behind;
  std::vector<UnwrappedCall> unwrapped;
  std::vector<SuspensionSite> suspensions;                 ///< ordered by index
  std::map<std::string, PseudoFunction> pseudo_functions;  ///< by key
  Coverage coverage;
};

/// What identifies a site, or the gate of a function, in SiteIds.
std::string site_identity(const Site& site);
std::string gate_identity(const Function& f);

/// Returns the original text of a file of the mirror.
using ReadOriginal = std::function<Result<std::string>(const std::string& file)>;

/// Works out all insertions. Errors, one line each: a function of the plan is not in the program or
/// cannot be instrumented, a value cannot be written there, more than VPROF_MAX_SITES sites.
Result<Instrumentation> instrument(const Program& program, const Plan& plan,
                                   const SiteIds& known_ids, const ReadOriginal& read_original);

}  // namespace vprof::instrumenter
