// Where in a JSON text each value stands, so that an error about a value can name its line.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "vprof/support/result.h"

namespace vprof::driver {

struct JsonLines {
  std::map<std::string, int>
      line_of;            ///< path (`/intervals/0/name`) → 1-based line of its key or value
  std::string duplicate;  ///< path of the first key that appears twice in one object, or ""
};

/// Scans a text that a JSON parser (with comments) has accepted already; other texts give nonsense,
/// not a crash.
JsonLines json_lines(std::string_view text);

}  // namespace vprof::driver
