#include "workspace/decisions.h"

#include <algorithm>

#include "vprof/support/text.h"

namespace vprof::driver {

std::string factor_id(const analyzer::Factor& factor) {
  std::string id;
  for (size_t i = 0; i < factor.functions.size(); ++i) {
    const std::string& name = factor.functions[i];
    const std::string key = i < factor.keys.size() ? factor.keys[i] : "";
    // body(f) and wait(l) carry the key of a function that they are not.
    const bool is_function = key.starts_with(name + "@");
    id += (id.empty() ? "" : " + ") + (is_function ? key : name);
  }
  return id;
}

std::string factor_name(const analyzer::Factor& factor) { return listed(factor.functions); }

DecidedFactor decided(const analyzer::Factor& factor) {
  return {.id = factor_id(factor), .name = factor_name(factor)};
}

bool contains(const std::vector<DecidedFactor>& factors, const analyzer::Factor& factor) {
  return std::ranges::any_of(
      factors, [id = factor_id(factor)](const DecidedFactor& one) { return one.id == id; });
}

}  // namespace vprof::driver
