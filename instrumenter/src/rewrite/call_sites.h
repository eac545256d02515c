#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "rewrite/instrumentation.h"

namespace vprof::instrumenter {

/// The wrapped calls of one expanded function.
struct CallSites {
  struct Wrapped {
    Site site;
    Form form = Form::kStatement;
    uint32_t begin = 0;
    uint32_t end = 0;
    unsigned slot = 0;  ///< kValue, kVoid: place of its state in the function's frame object
  };
  std::vector<Wrapped> wrapped;
  std::vector<UnwrappedCall> unwrapped;
  std::set<std::string> measured_callees;  ///< keys: rule 5, a scope at the callee's entry instead
  std::map<std::string, int> pseudo_functions;
  size_t measured_at_entry = 0;  ///< calls, of those
  unsigned slots = 0;
};

/// Applies the rules of DESIGN §6 to the calls of `f`.
CallSites call_sites_of(const Program& program, const Plan& plan, const Function& f);

/// Whether a path or function name is in the plan's "exclude".
bool is_excluded(const Plan& plan, const std::string& file, const std::string& name);

}  // namespace vprof::instrumenter
