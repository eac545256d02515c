// What waits and threads are called on a path.
#pragma once

#include <cstdint>
#include <string>

namespace vprof::analyzer {

/// The function in which a program waits so, by VPROF_EV_WAIT_*.
std::string wait_function(uint32_t event);

/// `worker-17` and `worker-18` do the same work: one name for both.
std::string role_of(const std::string& thread_name);

}  // namespace vprof::analyzer
