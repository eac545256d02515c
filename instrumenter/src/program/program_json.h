#pragma once

#include <nlohmann/json.hpp>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// Functions, calls and units as they stand in index.json and in the cache.
nlohmann::json to_json(const Function& function);
nlohmann::json to_json(const Unit& unit);
Function function_from_json(const nlohmann::json& document);  ///< throws nlohmann::json::exception
Unit unit_from_json(const nlohmann::json& document);          ///< throws nlohmann::json::exception

}  // namespace vprof::instrumenter
