// The kinds of waits that a recording may leave out.
#pragma once

#include <cstdint>
#include <string>

namespace vprof::analyzer {

/// The kinds of waits that a process did not record, according to the header of its trace. Empty if
/// it recorded all, or if the trace does not say.
std::string disabled_wait_classes(uint64_t classes);

}  // namespace vprof::analyzer
