// How many of the functions and calls that a plan asks for are measured, in words.
#pragma once

#include <string>
#include <vector>

#include "vprof/instrumenter/summary.h"

namespace vprof::driver {

/// One line: how many calls are measured, and how many should be and cannot be.
std::string coverage_in_short(const instrumenter::Summary& summary);

/// All counts: measured calls by rule, the others by reason.
std::vector<std::string> coverage_in_full(const instrumenter::Summary& summary);

}  // namespace vprof::driver
