// What FCFS, RS and VATS have in common, and LDSF, bLDSF and hLDSF.
#pragma once

#include <vector>

#include "policies/policy.h"

namespace lab {

// Goes through `order`, indices into the waiting requests, and grants each that conflicts neither
// with a holder nor with one before it, granted or waiting (end of section 3.3.2; 4.6.1). That is
// the first alone if it is exclusive, else all up to the first exclusive one.
inline std::vector<size_t> grant_in_order(const Decision& decision,
                                          const std::vector<size_t>& order) {
  std::vector<size_t> granted;
  for (const size_t index : order) {
    if (decision.waiting[index].mode == Mode::kExclusive) {
      if (granted.empty() && !decision.still_held) {
        granted.push_back(index);
      }
      break;
    }
    granted.push_back(index);
  }
  return granted;
}

// Lines 4 and 5 of Algorithms 5, 6 and 7: Tⁱ and Tˣ, as indices in order of arrival.
struct ByMode {
  std::vector<size_t> shared;
  std::vector<size_t> exclusive;
};

inline ByMode by_mode(std::span<const Request> waiting) {
  ByMode result;
  for (size_t index = 0; index < waiting.size(); ++index) {
    const bool shared = waiting[index].mode == Mode::kShared;
    (shared ? result.shared : result.exclusive).push_back(index);
  }
  return result;
}

}  // namespace lab
