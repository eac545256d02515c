#pragma once

#include <map>
#include <string>
#include <vector>

#include "rewrite/edits.h"
#include "rewrite/instrumentation.h"

namespace vprof::instrumenter {

/// What the configuration asks of one function: intervals that begin or end there, locks, queues.
struct FunctionEvents {
  std::string at_body;    ///< statements at the start of the body, scopes that close last first
  std::string on_return;  ///< statements that see the returned value as `vprof_result`; empty: no
                          ///< wrapper needed
};

/// Events by key of function. Errors: unknown function, no definition in the tree, value that
/// cannot be had there.
Result<std::map<std::string, FunctionEvents>> configured_events(const Program& program,
                                                                const Plan& plan);

/// Edits that rename a function and put a function of the old name behind it, which calls it and
/// then runs `on_return`: the only way to see a returned value that holds for macros, several
/// returns and all compilers.
Result<std::vector<Edit>> wrapper_edits(const Function& f, const std::string& on_return,
                                        const std::string& text);

}  // namespace vprof::instrumenter
