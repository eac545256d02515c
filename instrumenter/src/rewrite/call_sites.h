#pragma once

#include <map>
#include <string>
#include <vector>

#include "rewrite/callee_entries.h"
#include "rewrite/instrumentation.h"

namespace vprof::instrumenter {

/// What becomes of the calls of one expanded function.
struct CallSites {
  struct Wrapped {
    Site site;
    Form form = Form::kStatement;
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t full_expr = 0;  ///< as in Call
    unsigned slot = 0;  ///< place of its state in the function's frame object, for forms with one
  };
  std::vector<Wrapped> wrapped;
  std::vector<UnwrappedCall> unwrapped;
  std::map<std::string, PseudoFunction> pseudo_functions;  ///< by key
  size_t measured_at_entry = 0;  ///< calls measured at the entry of their callee
  unsigned slots = 0;
};

/// Applies the rewriting rules to the calls of `f`. What is measured at the entry of the callee is
/// then among `entries`.
CallSites call_sites_of(const Program& program, const Plan& plan, CalleeEntries& entries,
                        const Function& f);

}  // namespace vprof::instrumenter
