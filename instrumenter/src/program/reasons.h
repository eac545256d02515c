// Why a call is left alone because the rules of DESIGN §6 say so: to be told apart from what should
// be measured and could not be. Every other reason counts as the latter.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace vprof::instrumenter {

namespace reason {
inline constexpr const char* kTrivial =
    "trivial callee: timing it would distort more than it tells";
inline constexpr const char* kDemoted = "demoted: called often, matters little";
inline constexpr const char* kExcluded = "excluded by the configuration";
inline constexpr const char* kCheap = "library function cheaper than reading the clock";
inline constexpr const char* kCallersFrame = "needs its caller's frame";
inline constexpr const char* kConstexpr = "constexpr callee";
inline constexpr const char* kCoroutine = "in a coroutine";
// Calls without a text of their own; of functions in the tree, they are measured at the entry.
inline constexpr const char* kConstruction =
    "construction by a constructor outside the source tree";
inline constexpr const char* kDestruction = "destruction by a destructor outside the source tree";
inline constexpr const char* kRangeFor = "call that a range-for makes";
inline constexpr const char* kConversion = "implicit conversion";
inline constexpr const char* kArrow = "operator->";
inline constexpr const char* kLiteral = "user-defined literal";
}  // namespace reason

inline bool is_by_rule(std::string_view why) {
  using namespace reason;
  constexpr std::array<std::string_view, 13> kAll{
      kTrivial,      kDemoted,     kExcluded, kCheap,      kCallersFrame, kConstexpr, kCoroutine,
      kConstruction, kDestruction, kRangeFor, kConversion, kArrow,        kLiteral};
  return std::find(kAll.begin(), kAll.end(), why) != kAll.end();
}

}  // namespace vprof::instrumenter
