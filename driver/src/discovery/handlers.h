// Which functions look like they handle one request: called in a loop, near where threads begin,
// with much below.
#pragma once

#include "discovery/source_scan.h"

namespace vprof::driver {

struct Handler {
  std::string name;
  std::string place;  ///< `file:line`
  std::string
      reason;  ///< `called in an endless loop of serve (a.c:12); 14 callees, 320 functions below`
  double score = 0;
};

/// Best first, at most `most`.
std::vector<Handler> likely_handlers(const ScannedSource& source, size_t most);

}  // namespace vprof::driver
