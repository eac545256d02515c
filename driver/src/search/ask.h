// The conversation about the top factors, at a terminal.
#pragma once

#include <functional>
#include <optional>

#include "search/policy.h"
#include "workspace/session.h"

namespace vprof::driver {

/// The next line that the user typed, without its end; nothing at the end of input or after Ctrl-C.
using ReadLine = std::function<std::optional<std::string>()>;

/// From standard input. Does not retry after a signal, unlike the streams of the standard library.
std::optional<std::string> read_terminal_line();

/// Asks about the first k undecided factors, and about the next ones as long as none is expanded.
Decision ask(const analyzer::Profile& profile, const instrumenter::Program& program,
             const Session& session, const ReadLine& read_line);

}  // namespace vprof::driver
