// Whether two profiles are of one program. A profile does not name its program, which may well have
// moved or have changed its name; but its functions are still there.
#include <algorithm>
#include <set>

#include "vprof/analyzer/diff.h"

namespace vprof::analyzer {
namespace {

constexpr size_t kLeastInCommon = 4;  // at least one in four functions of the smaller profile

/// Names of the functions with a definition in the program: those of libraries are everywhere.
void add_functions(const Node& node, std::set<std::string>& names) {
  if (!node.function_key.empty() && !node.function_key.ends_with('@')) {
    names.insert(node.function);
  }
  for (const Node& child : node.children) {
    add_functions(child, names);
  }
}

}  // namespace

Result<void> comparable(const Profile& a, const Profile& b) {
  if (a.interval.name != b.interval.name) {
    return fail("A measures the interval '{}', B measures '{}'", a.interval.name, b.interval.name);
  }
  std::set<std::string> of_a;
  std::set<std::string> of_b;
  add_functions(a.tree, of_a);
  add_functions(b.tree, of_b);
  const size_t smaller = std::min(of_a.size(), of_b.size());
  const auto common = static_cast<size_t>(std::count_if(
      of_a.begin(), of_a.end(), [&](const std::string& name) { return of_b.contains(name); }));
  if (common * kLeastInCommon < smaller) {
    return fail(
        "of {} and {} measured functions, A and B have {} in common: they look like "
        "different programs",
        of_a.size(), of_b.size(), common);
  }
  return {};
}

}  // namespace vprof::analyzer
