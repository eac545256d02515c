// `file:line` in texts for people as links that terminals follow (OSC 8).
//
//   ESC ] 8 ; ; URL ESC \  src/worker.cpp:41  ESC ] 8 ; ; ESC \      invisible but for the text
#pragma once

#include <string>

#include "vprof/support/files.h"

namespace vprof {

/// The URL of a place: `{path}`, `{line}`, `{column}` and `{host}` stand for its parts. Empty: no
/// links.
struct LinkFormat {
  std::string url;
};

/// From `VPROF_LINK_FORMAT`: a URL, a name such as `vscode`, or `none`; without it, a file URL. No
/// links where standard output is no terminal, or one that is known to show them as text. Error:
/// the variable is neither.
Result<LinkFormat> link_format();

/// The text with a link at each `file:line` or `file:line:column` whose file exists. `root`: what
/// relative names are relative to; empty: such names get no link.
std::string with_links(const std::string& text, const LinkFormat& format, const fs::path& root);

}  // namespace vprof
