// The sections of vprof.json that name functions of the program: "intervals" and "sync".
#pragma once

#include <vector>

#include "config/config.h"
#include "config/config_reader.h"

namespace vprof::driver {

std::vector<Interval> read_intervals(ObjectReader& top);

std::vector<Sync> read_sync(ObjectReader& top);

/// The keys of both sections as known_keys() returns them: `intervals.begin.key`.
Keys keys_of_named_functions();

}  // namespace vprof::driver
