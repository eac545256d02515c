// What became of the functions and calls that a plan asked for, in words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace vprof::driver {

/// One line: how many calls are measured, and how many should be and cannot.
/// @param summary what vprof-instrument wrote (docs/formats.md)
std::string coverage_in_short(const nlohmann::json& summary);

/// The whole account: by rule what is measured, by reason what is not.
std::vector<std::string> coverage_in_full(const nlohmann::json& summary);

}  // namespace vprof::driver
