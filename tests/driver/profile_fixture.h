// Profiles as the search sees them: factors, and what is measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "program_fixture.h"
#include "workspace/state.h"

namespace vprof::test {

using analyzer::Factor;
using analyzer::FactorKind;
using analyzer::FactorStatus;
using analyzer::Node;
using analyzer::NodeKind;
using analyzer::Profile;

inline Factor variance(const std::string& key, double contribution,
                       FactorStatus status = FactorStatus::kExpandable) {
  Factor factor;
  factor.functions = {key.substr(0, key.find('@'))};
  factor.keys = {key.find('@') == std::string::npos ? "" : key};
  factor.contribution = factor.share = factor.weight = contribution;
  factor.status = status;
  return factor;
}

inline Factor covariance(const std::string& a, const std::string& b, double contribution) {
  Factor factor = variance(a, contribution);
  factor.kind = FactorKind::kCovariance;
  factor.functions.push_back(b.substr(0, b.find('@')));
  factor.keys.push_back(b);
  return factor;
}

inline Profile profile(std::vector<Factor> factors) {
  Profile made;
  made.factors = std::move(factors);
  for (size_t i = 0; i < made.factors.size(); ++i) {
    made.factors[i].rank = static_cast<int>(i) + 1;
  }
  return made;
}

inline analyzer::Node measured(const std::string& key, double share) {
  analyzer::Node node;
  node.function = key.substr(0, key.find('@'));
  node.function_key = key;
  node.share = share;
  return node;
}

inline const std::string kHandle = "handle@a.c:10", kStore = "store@b.c:5", kParse = "parse@a.c:1",
                         kWorker = "worker@c.c:7";

inline std::vector<std::string> ids(const std::vector<driver::DecidedFactor>& all) {
  std::vector<std::string> names;
  for (const driver::DecidedFactor& one : all) {
    names.push_back(one.id);
  }
  return names;
}

}  // namespace vprof::test
