// Names of waits and threads in the tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// The function that a VPROF_EV_WAIT_* event stands for.
std::string wait_function(uint32_t event);

/// What `wait(function)` waits for. A name that the configuration gives under `sync` does not tell;
/// such a wait is synchronization.
TimeKind kind_of_wait(std::string_view function);

/// A thread's name without its number: `worker-17` and `worker-18` do the same work.
std::string thread_role(const std::string& thread_name);

}  // namespace vprof::analyzer
