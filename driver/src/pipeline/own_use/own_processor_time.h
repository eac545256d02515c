// What vprof itself costs the machine.
#pragma once

namespace vprof::driver {

/// Processor time of this process so far, with that of all of its threads, s.
double own_processor_s();

}  // namespace vprof::driver
