// What the terminals of this process can show, and text that suits them.
#pragma once

#include <string>

#include "vprof/report/report.h"

namespace vprof::report {

/// For standard output. The width is that of $COLUMNS or of the terminal, else the default. Colours
/// only at a terminal that knows them, and only without $NO_COLOR. ASCII alone where the locale
/// does not have UTF-8.
TextOptions text_options();

/// Whether a file descriptor is a terminal that understands escape sequences ($TERM is not `dumb`).
bool takes_escapes(int descriptor);

/// A message for a file descriptor: at a terminal, lines that are too long are broken at spaces and
/// go on with the indentation of their line. Elsewhere the text stays as it is.
std::string for_terminal(const std::string& text, int descriptor);

}  // namespace vprof::report
