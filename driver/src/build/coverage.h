// How many of the functions and calls that a plan asked for are measured, as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace vprof::driver {

/// One line: the number of calls that are measured and of those that cannot be.
/// @param summary written by vprof-instrument (docs/formats.md)
std::string coverage_in_short(const nlohmann::json& summary);

/// The full account: measured calls by rule, the others by reason.
std::vector<std::string> coverage_in_full(const nlohmann::json& summary);

}  // namespace vprof::driver
