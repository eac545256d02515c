// Turns the command line that CLI11 parses into data.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command_text.h"

namespace vprof::driver {

CommandText describe(const CLI::App& app, const std::string& version);

}  // namespace vprof::driver
