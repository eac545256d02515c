// JSON files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "vprof/support/files.h"

namespace vprof {

/// Reads a JSON file that vprof wrote; `//` and `/* */` comments are allowed.
Result<nlohmann::json> read_json(const fs::path& path);

/// A document as text for people: one value a line. Bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::json& document);

}  // namespace vprof
