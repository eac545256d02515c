// From the command line as CLI11 knows it to the command line as data.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command_text.h"

namespace vprof::driver {

CommandText describe(const CLI::App& app, const std::string& version);

}  // namespace vprof::driver
