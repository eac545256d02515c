#include "critical_path/node_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

/// Whether reports show waits of this event under this name.
bool is_function_of(uint32_t event, std::string_view function) {
  return function == vprof_wait_function(event);
}

}  // namespace

std::string wait_function(uint32_t event) {
  const char* name = vprof_wait_function(event);
  return name != nullptr ? name : fmt::format("#{}", event - VPROF_EV_WAIT_FIRST);
}

TimeKind kind_of_wait(std::string_view function) {
  if (is_function_of(VPROF_EV_WAIT_TIMER, function)) {
    return TimeKind::kSleep;
  }
  constexpr std::array kStreamsAndFiles = {VPROF_EV_WAIT_STREAM, VPROF_EV_WAIT_POLL,
                                           VPROF_EV_WAIT_SEND, VPROF_EV_WAIT_FILE,
                                           VPROF_EV_WAIT_RING};
  const bool io = std::any_of(kStreamsAndFiles.begin(), kStreamsAndFiles.end(),
                              [&](uint32_t event) { return is_function_of(event, function); });
  bool file_call = false;
  for (uint32_t call = 1; const char* name = vprof_file_call_name(call); ++call) {
    file_call |= function == name;
  }
  return io || file_call ? TimeKind::kIo : TimeKind::kSynchronization;
}

std::string thread_role(const std::string& thread_name) {
  std::string role = thread_name;
  while (!role.empty() &&
         std::string_view("0123456789-_:#/. ").find(role.back()) != std::string_view::npos) {
    role.pop_back();
  }
  if (role.empty()) {
    role = "thread";
  }
  return role;
}

}  // namespace vprof::analyzer
