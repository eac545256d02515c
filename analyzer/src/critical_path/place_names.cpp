#include "critical_path/place_names.h"

#include <fmt/format.h>

#include <string_view>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

std::string wait_function(uint32_t event) {
  switch (event) {
#define VPROF_WAIT_FUNCTION(kind, number, wait_class, function, ended_by) \
  case VPROF_EV_WAIT_##kind:                                              \
    return function;
    VPROF_WAIT_KINDS(VPROF_WAIT_FUNCTION)
#undef VPROF_WAIT_FUNCTION
    default:
      return fmt::format("#{}", event - VPROF_EV_WAIT_FIRST);
  }
}

std::string role_of(const std::string& thread_name) {
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
