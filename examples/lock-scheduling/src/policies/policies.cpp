#include <array>

#include "policies/policy.h"

namespace lab {

namespace {

constexpr std::array<std::string_view, 6> kNames{"fcfs", "rs", "vats", "ldsf", "bldsf", "hldsf"};
constexpr std::array kMakers{make_fcfs, make_rs, make_vats, make_ldsf, make_bldsf, make_hldsf};

}  // namespace

std::unique_ptr<Policy> make_policy(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) {
      return kMakers[i]();
    }
  }
  return nullptr;
}

std::span<const std::string_view> policy_names() { return kNames; }

}  // namespace lab
