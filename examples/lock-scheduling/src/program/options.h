// The command line.
#pragma once

#include <string>

#include "program/settings.h"

namespace lab {

// False, with a line that says what is wrong, if the arguments are no settings.
bool read_options(int count, const char* const* arguments, Settings& settings, std::string& error);

// All options with their meaning.
std::string usage();

}  // namespace lab
