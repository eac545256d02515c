#pragma once

#include <map>
#include <string>
#include <vector>

#include "rewrite/instrumentation.h"
#include "rewrite/text/edits.h"

namespace vprof::instrumenter {

/// What the configuration wants recorded in one function: intervals, locks, queues.
struct FunctionEvents {
  std::string
      at_body;  ///< statements at the start of the body; the scope that closes last is first
  /// Statements that see the returned value as `vprof_result`; empty: the function needs no
  /// wrapper.
  std::string on_return;
};

/// Events by function key. Errors: an unknown function, no definition in the tree, a value that
/// does not exist there.
Result<std::map<std::string, FunctionEvents>> configured_events(const Program& program,
                                                                const Plan& plan);

/// Edits that rename a function and put a wrapper with the old name behind it, which calls it and
/// then runs `on_return`. No other way to see a returned value copes with macros, several returns
/// and all compilers.
Result<std::vector<Edit>> wrapper_edits(const Function& f, const std::string& on_return,
                                        const std::string& text);

}  // namespace vprof::instrumenter
