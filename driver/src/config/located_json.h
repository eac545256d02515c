// A JSON text with the line of each of its values, so that an error about a value can name its
// line.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "vprof/support/result.h"

namespace vprof::driver {

struct LocatedJson {
  nlohmann::json value;
  /// Path of a value (`/intervals/0/name`) → 1-based line of its key, or of the value itself in a
  /// list. The path of the document is empty.
  std::map<std::string, int> lines;
  /// Path of the first key that occurs twice in one object, or "".
  std::string duplicate;
};

/// Parses JSON with `//` and `/* */` comments. Error: `LINE:COLUMN: malformed JSON: ...`, on one
/// line.
Result<LocatedJson> parse_located_json(const std::string& text);

}  // namespace vprof::driver
