// The ranking rules that `factors.specificity` of vprof.json can name. To add one, add it to the
// enum in analyzer.h and to the table here.
#pragma once

#include <array>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

struct SpecificityRule {
  const char* name;  ///< in vprof.json and on the page
  int power;         ///< of the distance to the root of the call graph (equation 2.3 has 2)
};

/// In the order of the enum.
inline constexpr std::array<SpecificityRule, 3> kSpecificityRules = {
    {{"linear", 1}, {"quadratic", 2}, {"cubic", 3}}};

constexpr const SpecificityRule& rule_of(Specificity specificity) {
  return kSpecificityRules.at(static_cast<size_t>(specificity));
}

}  // namespace vprof::analyzer
