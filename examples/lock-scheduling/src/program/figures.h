// What a run's latencies come to.
#pragma once

#include <string>

#include "program/settings.h"
#include "simulation/simulation.h"
#include "workloads/workload.h"

namespace lab {

// One line, `name=value` separated by spaces. Latencies are in ms, from the begin of the first
// attempt to the commit; the throughput is in transactions a second. Without the first `warm_up` to
// end.
std::string figures(const Settings& settings, Outcome outcome);

}  // namespace lab
