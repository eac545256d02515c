#include "critical_path/place_names.h"

#include <fmt/format.h>

#include <string_view>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

std::string wait_function(uint32_t event) {
  const char* name = vprof_wait_function(event);
  return name != nullptr ? name : fmt::format("#{}", event - VPROF_EV_WAIT_FIRST);
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
