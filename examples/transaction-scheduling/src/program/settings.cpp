#include "program/settings.h"

#include <algorithm>

namespace smf {

const System* find_system(std::string_view name) {
  const auto* found = std::ranges::find(kSystems, name, &System::name);
  return found == kSystems.end() ? nullptr : found;
}

Rules rules_of(const Settings& settings) {
  const System& system = *settings.system;
  Rules rules;
  rules.sample = system.samples ? settings.sample : 1;
  rules.room = settings.workers;
  rules.barrier = settings.barrier;
  rules.span = system.bolt_on ? Span::kTransaction : Span::kOperation;
  rules.hold = system.bolt_on && settings.hold;
  rules.snapshot_readers = true;
  return rules;
}

}  // namespace smf
