// Asks the user at a terminal what to do with the ranked factors.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "search/policy.h"
#include "workspace/session.h"

namespace vprof::driver {

/// The next line of input without its line break; nothing at the end of input or after Ctrl-C.
using ReadLine = std::function<std::optional<std::string>()>;

/// A line of standard input. Unlike the streams of the standard library it does not retry after a
/// signal.
std::optional<std::string> read_terminal_line();

/// Asks about the undecided factors in groups of k, until a group expands one or none is left.
Decision ask(const analyzer::Profile& profile, const instrumenter::Program& program,
             const Session& session, const ReadLine& read_line);

}  // namespace vprof::driver
