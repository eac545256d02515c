#include "workspace/decisions.h"

#include <algorithm>

#include "vprof/report/factor_words.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

/// ` in f` of a wait: the function that waits, at the place that counts most.
std::string place_of(const analyzer::Factor& factor) {
  const std::string& name = factor.functions[0];
  if (!is_wait(factor) || factor.instances.empty() || factor.instances[0].path.size() < 2) {
    return "";
  }
  const std::vector<std::string>& path = factor.instances[0].path;
  const std::string& call = path[path.size() - 2];
  // A measured call of the function that waits says nothing new: its caller does.
  const bool same = path.size() > 2 && name.find("(" + call + ")") != std::string::npos;
  return " in " + (same ? path[path.size() - 3] : call);
}

}  // namespace

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

bool is_wait(const analyzer::Factor& factor) {
  const std::string& name = factor.functions[0];
  return factor.kind == analyzer::FactorKind::kVariance &&
         (name.starts_with("wait(") || name.starts_with("polled(") || is_await(factor));
}

bool is_await(const analyzer::Factor& factor) {
  return factor.kind == analyzer::FactorKind::kVariance &&
         factor.functions[0].starts_with("co_await(");
}

std::string factor_name(const analyzer::Factor& factor) {
  return listed(factor.functions) + report::blame_mark(factor);
}

DecidedFactor decided(const analyzer::Factor& factor) {
  return {.id = factor_id(factor),
          .name = listed(factor.functions) + place_of(factor) + report::blame_mark(factor),
          .by_user = false};
}

bool contains(const std::vector<DecidedFactor>& factors, const analyzer::Factor& factor) {
  return std::ranges::any_of(
      factors, [id = factor_id(factor)](const DecidedFactor& one) { return one.id == id; });
}

}  // namespace vprof::driver
