#include "json/names.h"

#include <array>

namespace vprof::report {
namespace {

using analyzer::FactorKind;
using analyzer::FactorStatus;
using analyzer::NodeKind;

// In the order of the enumerations.
constexpr std::array<const char*, 7> kNodeKinds = {"function", "body",      "wait",     "blame",
                                                   "queue",    "preempted", "untracked"};
constexpr std::array<const char*, 2> kFactorKinds = {"variance", "covariance"};
constexpr std::array<const char*, 5> kStatuses = {"selected", "expandable", "expanded", "leaf",
                                                  "set-aside"};

static_assert(static_cast<size_t>(NodeKind::kUntracked) + 1 == kNodeKinds.size());
static_assert(static_cast<size_t>(FactorKind::kCovariance) + 1 == kFactorKinds.size());
static_assert(static_cast<size_t>(FactorStatus::kSetAside) + 1 == kStatuses.size());

template <class Enum, size_t N>
std::optional<Enum> find(const std::array<const char*, N>& names, const std::string& name) {
  for (size_t i = 0; i < N; ++i) {
    if (name == names[i]) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

}  // namespace

const char* name_of(NodeKind kind) { return kNodeKinds[static_cast<size_t>(kind)]; }
const char* name_of(FactorKind kind) { return kFactorKinds[static_cast<size_t>(kind)]; }
const char* name_of(FactorStatus status) { return kStatuses[static_cast<size_t>(status)]; }

std::optional<NodeKind> node_kind(const std::string& name) {
  return find<NodeKind>(kNodeKinds, name);
}
std::optional<FactorKind> factor_kind(const std::string& name) {
  return find<FactorKind>(kFactorKinds, name);
}
std::optional<FactorStatus> factor_status(const std::string& name) {
  return find<FactorStatus>(kStatuses, name);
}

}  // namespace vprof::report
