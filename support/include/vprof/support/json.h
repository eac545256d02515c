// JSON files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "vprof/support/files.h"

namespace vprof {

/// Reads a JSON file that vprof wrote; `//` and `/* */` comments are allowed.
Result<nlohmann::json> read_json(const fs::path& path);

/// What a text holds; is_discarded() if it is not JSON. To be preferred to nlohmann's own parse(),
/// which every caller would compile anew.
nlohmann::json parse_json(std::string_view text);

/// A document as text: one value a line, `indent` spaces per level, or all in one line if `indent`
/// is negative. Bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::json& document, int indent = 1);

}  // namespace vprof
