#include "trace/wait_classes.h"

#include <vector>

#include "vprof/analyzer/analyzer.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

struct WaitClass {
  const char* name;
  uint32_t mask;
};

constexpr WaitClass kClasses[] = {
#define VPROF_NAMED_CLASS(id, bit, name) {name, VPROF_CLASS_##id},
    VPROF_WAIT_CLASSES(VPROF_NAMED_CLASS)
#undef VPROF_NAMED_CLASS
};

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
    if ((classes & c.mask) == 0) {
      names += (names.empty() ? "" : ", ") + std::string(c.name);
    }
  }
  return names;
}

}  // namespace vprof::analyzer
