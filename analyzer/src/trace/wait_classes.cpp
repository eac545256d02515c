#include "trace/wait_classes.h"

#include <vector>

#include "vprof/analyzer/analyzer.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

constexpr struct {
  const char* name;
  uint32_t bit;
} kClasses[] = {VPROF_CLASS_NAMES};

}  // namespace

std::vector<std::string> wait_classes() {
  std::vector<std::string> names;
  for (const auto& c : kClasses) {
    names.emplace_back(c.name);
  }
  return names;
}

std::string left_out_classes(uint64_t classes) {
  std::string names;
  if (classes == 0 || classes == VPROF_CLASS_ALL) {
    return names;
  }
  for (const auto& c : kClasses) {
    if ((classes & c.bit) == 0) {
      names += (names.empty() ? "" : ", ") + std::string(c.name);
    }
  }
  return names;
}

}  // namespace vprof::analyzer
