// The command line.
#pragma once

#include <string>

#include "program/settings.h"

namespace smf {

// False, with what is wrong, if the arguments are not understood.
bool read_options(int count, const char* const* arguments, Settings& settings, std::string& error);

std::string usage();

}  // namespace smf
