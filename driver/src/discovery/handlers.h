// Finds functions that look like they handle one request: called in a loop, near where a thread
// begins, with much below them in the call graph.
#pragma once

#include "discovery/source_scan.h"

namespace vprof::driver {

struct Handler {
  std::string name;
  std::string place;  ///< `file:line`
  /// `called in an endless loop of serve (a.c:12); 14 callees, 320 functions below`
  std::string reason;
  double score = 0;
};

/// The likeliest handlers, best first, up to `count`.
std::vector<Handler> likely_handlers(const ScannedSource& source, size_t count);

}  // namespace vprof::driver
