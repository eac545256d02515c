#pragma once

#include <cstdint>
#include <string>

namespace vprof::analyzer {

/// The kinds of waits that a process did not record, by the header of its trace; empty if it
/// recorded all, or if the trace does not say.
std::string left_out_classes(uint64_t classes);

}  // namespace vprof::analyzer
