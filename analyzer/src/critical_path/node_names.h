// Names of waits and threads in the tree.
#pragma once

#include <cstdint>
#include <string>

namespace vprof::analyzer {

/// The function that a VPROF_EV_WAIT_* event stands for.
std::string wait_function(uint32_t event);

/// A thread's name without its number: `worker-17` and `worker-18` do the same work.
std::string thread_role(const std::string& thread_name);

}  // namespace vprof::analyzer
