#include "program/settings.h"

#include <algorithm>
#include <limits>

namespace smf {

const System* find_system(std::string_view name) {
  const auto* found = std::ranges::find(kSystems, name, &System::name);
  return found == kSystems.end() ? nullptr : found;
}

Rules rules_of(const Settings& settings) {
  Rules rules;
  rules.barrier = settings.barrier;
  rules.hold = settings.system->hold;
  rules.span = settings.system->hold ? Span::kTransaction : Span::kOperation;
  rules.sample = settings.system->samples ? settings.sample : 1;
  rules.room = settings.system->samples ? settings.room : std::numeric_limits<uint32_t>::max();
  return rules;
}

}  // namespace smf
